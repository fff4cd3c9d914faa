"""The sequence of tokens, against the format written out by hand."""

import doctest
import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_signals.decide import QuestionError, parse_questions, sequence
from laya_signals.decide.sequence import (
    MIN_INSTRUCTION_TOKENS,
    OPTION_TOKENS,
    SequenceBuilder,
    SpecialTokens,
)
from laya_signals.errors import ModelError
from tokenizers import Tokenizer, models


def test_the_example_of_the_docstring_holds():
    assert doctest.testmod(sequence) == (0, 8)


def ask(**question):
    [parsed] = parse_questions([{"id": "q", "type": "noul", "instructions": "holds", **question}])
    return parsed


def words(builder, sequence):
    return " ".join(builder._tokenizer.id_to_token(number) for number in sequence.ids)


def test_a_noul_reads_as_the_format_says(tokenizer):
    builder = SequenceBuilder(tokenizer)
    sequence = builder.build("the cat sat", ask())
    assert words(builder, sequence) == (
        "[CLS] noul question : holds [SEP] "
        "[MASK] false : no , the statement does not hold "
        "[MASK] true : yes , the statement holds [SEP] the cat sat [SEP]"
    )
    assert [sequence.ids[place] for place in sequence.markers] == [builder.special.mask] * 2
    assert not sequence.truncated


def test_a_choice_and_a_score_read_as_the_format_says(tokenizer):
    builder = SequenceBuilder(tokenizer)
    choice = ask(type="choice", options={"cat": "the cat", "mat": ""})
    assert words(builder, builder.build("a", choice)) == (
        "[CLS] choice question : holds [SEP] [MASK] cat : the cat [MASK] mat [SEP] a [SEP]"
    )
    score = ask(type="score", options=["no", "yes"])
    assert words(builder, builder.build("a", score)) == (
        "[CLS] score question : holds [SEP] [MASK] level 0 : no [MASK] level 1 : yes [SEP] a [SEP]"
    )


def test_an_option_is_tokenised_with_a_leading_blank():
    vocabulary = {"[CLS]": 0, "[SEP]": 1, "[MASK]": 2, "[UNK]": 3, " ": 4, "x": 5}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="[UNK]"))
    builder = SequenceBuilder(tokenizer)
    head = builder.head(ask(type="choice", options=["x", "xx"]))
    assert head.ids[-7:] == (2, 4, 5, 2, 4, 5, 5, 1)[-7:]


@pytest.mark.parametrize(
    "names", [("[CLS]", "[SEP]", "[MASK]"), ("<s>", "</s>", "<mask>"), ("<bos>", "<eos>", "<mask>")]
)
def test_families_of_tokenizers_are_known_by_their_special_tokens(names):
    vocabulary = {name: number for number, name in enumerate(("[UNK]", *names))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    assert SpecialTokens.of(tokenizer) == SpecialTokens(1, 2, 3, names[2])
    with pytest.raises(ModelError, match="<other>"):
        SpecialTokens.of(tokenizer, ("<other>", names[1], names[2]))


def test_a_tokenizer_without_special_tokens_is_refused():
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    with pytest.raises(ModelError, match="lacks special tokens"):
        SpecialTokens.of(tokenizer)


def test_mask_tokens_in_texts_are_no_markers(tokenizer):
    builder = SequenceBuilder(tokenizer)
    question = ask(
        type="choice", instructions="holds [MASK] the", options={"a[MASK]": "b", "c": "[MASK] d"}
    )
    sequence = builder.build({"cat": "[MASK]"}, question)
    assert sequence.ids.count(builder.special.mask) == 2
    assert words(builder, sequence).startswith(
        "[CLS] choice question : holds the [SEP] [MASK] a : b [MASK] c : d [SEP]"
    )


@pytest.mark.parametrize("state", [{"query": "Köln", "document": "東京"}, ["Köln", {"a": "café"}]])
def test_what_is_no_text_reads_as_json_in_its_own_letters(tokenizer, state):
    builder = SequenceBuilder(tokenizer)
    assert builder.state_ids(state) == builder.state_ids(json.dumps(state, ensure_ascii=False))
    assert "Köln" in words(builder, builder.build(state, ask()))


def test_any_mapping_and_any_sequence_will_do(tokenizer):
    builder = SequenceBuilder(tokenizer)
    assert builder.state_ids(MappingProxyType({"a": 1})) == builder.state_ids({"a": 1})
    assert builder.state_ids(("a", "b")) == builder.state_ids(["a", "b"])


def test_a_long_text_loses_its_end_and_a_long_list_its_beginning(tokenizer):
    builder = SequenceBuilder(tokenizer, max_len=40, head_max_len=30)
    right = builder.build("a " + "cat " * 50 + "b", ask())
    left = builder.build(["a", *["cat"] * 50, "b"], ask())
    assert len(right.ids) == len(left.ids) == 40
    assert words(builder, right).endswith(
        "[SEP] a" + " cat" * (right.state_tokens_used - 1) + " [SEP]"
    )
    assert words(builder, left).endswith("[UNK] b [UNK] ] [SEP]")
    assert right.truncated
    assert (right.state_tokens, right.state_tokens_dropped) == (52, 52 - right.state_tokens_used)


def test_an_option_is_capped(tokenizer):
    builder = SequenceBuilder(tokenizer)
    head = builder.head(ask(type="choice", options={"a": "cat " * 100, "b": "mat"}))
    first, second = head.markers
    assert second - first == OPTION_TOKENS + 1


def test_the_head_half_keeps_to_its_budget(tokenizer):
    builder = SequenceBuilder(tokenizer, head_max_len=64)
    long = "cat " * 100
    options = dict.fromkeys("abcde", long)
    head = builder.head(ask(type="choice", instructions=long, options=options))
    # (64 - 16) // 5 tokens for each option, the rest for the instructions, three that structure.
    assert [b - a for a, b in zip(head.markers, head.markers[1:], strict=False)] == [9] * 4
    assert head.markers[0] - 2 == 64 - 5 * 9
    assert len(head.ids) == 64 + 3
    assert head.distinct_options == 5


def test_options_that_cannot_be_told_apart_are_counted(tokenizer):
    builder = SequenceBuilder(tokenizer, head_max_len=64)
    options = [f"the cat sat {letter}" for letter in "abcde" for _ in range(1)]
    options += [f"the cat sat {digit}" for digit in range(10)]
    head = builder.head(ask(type="choice", options=options))
    assert len(head.markers) == 15
    assert head.distinct_options == 1
    assert head.markers[0] - 2 == 3 + 1 <= MIN_INSTRUCTION_TOKENS


def test_options_beyond_the_sequence_are_refused(tokenizer):
    builder = SequenceBuilder(tokenizer, max_len=48, head_max_len=40)
    with pytest.raises(QuestionError, match=r"'q': only \d+ of 20 options fit into 48 tokens"):
        builder.head(ask(type="choice", options=[f"cat {n}" for n in range(20)]))


@pytest.mark.parametrize("state", [7, None, b"bytes", {"a": {1, 2}}, {1, 2}])
def test_what_is_no_state_is_refused(tokenizer, state):
    with pytest.raises(QuestionError, match="state"):
        SequenceBuilder(tokenizer).build(state, ask())


def test_a_lone_surrogate_is_no_text(tokenizer):
    with pytest.raises(QuestionError, match="the state has a lone surrogate"):
        SequenceBuilder(tokenizer).build("\ud800", ask())
    with pytest.raises(QuestionError, match="'q' has a lone surrogate"):
        SequenceBuilder(tokenizer).build("a", ask(instructions="\ud800"))


@given(
    state=st.one_of(st.text(max_size=80), st.lists(st.text(max_size=12), max_size=12)),
    options=st.lists(
        st.text("abc dE", min_size=1, max_size=30), min_size=1, max_size=6, unique=True
    ),
    max_len=st.integers(90, 140),
)
def test_every_sequence_is_well_formed(tokenizer, state, options, max_len):
    builder = SequenceBuilder(tokenizer, max_len=max_len, head_max_len=64)
    sequence = builder.build(state, ask(type="choice", options=options))
    mask, sep, special = builder.special.mask, builder.special.sep, builder.special
    assert len(sequence.ids) <= max_len
    assert sequence.ids[0] == special.cls
    assert sequence.ids[-1] == sep
    assert [i for i, number in enumerate(sequence.ids) if number == mask] == list(sequence.markers)
    assert len(sequence.markers) == len(options)
    assert sequence.truncated == (sequence.state_tokens_used < sequence.state_tokens)
    if sequence.truncated:
        assert len(sequence.ids) == max_len
