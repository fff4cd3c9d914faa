from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from laya_rag.compose.errors import ModelServerError
from laya_rag.compose.thinking import AnswerText

ALPHABET = st.lists(
    st.sampled_from(
        ["<think>", "</think>", "<thinking>", "</thinking>", "<", "th", "ink>", " ", "\n", "a", "é"]
    ),
    max_size=12,
).map("".join)


def read(pieces: list[str]) -> tuple[str, bool]:
    answer = AnswerText()
    text = "".join([*map(answer.feed, pieces), answer.close()])
    return text, answer.thinking


def outcome(pieces: list[str]) -> tuple[str, bool] | str:
    try:
        return read(pieces)
    except ModelServerError as error:
        return error.code


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("It is old [1].", "It is old [1]."),
        ("<think>\nhm\n</think>\n\nIt is old.", "It is old."),
        ("<thinking>hm</thinking>It is old.", "It is old."),
        ("It is <think>really?</think>old.", "It is old."),
        ("  \nIt is old. \n", "It is old."),
        ("a < b, <thin> and <th", "a < b, <thin> and <th"),
        ("<think>\n\n</think>", ""),
        ("", ""),
    ],
)
def test_the_answer_is_what_is_not_thinking(text: str, answer: str) -> None:
    assert read([text]) == (answer, False)
    assert read(list(text)) == (answer, False)


def test_thinking_that_never_ends_is_no_answer() -> None:
    assert read(["<think>", "It is old."]) == ("", True)
    assert read(["Old. <think>Or", " is it"]) == ("Old.", True)


def test_thinking_that_never_began_is_refused() -> None:
    with pytest.raises(ModelServerError) as caught:
        read(["Hm, let me see.", "</thi", "nk>", "It is old."])
    assert caught.value.code == "thinking_mixed_in"


@given(text=ALPHABET, data=st.data())
def test_the_answer_is_the_same_however_the_text_comes(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert outcome(pieces) == outcome([text])


@given(st.text())
@example("<think")
def test_a_text_without_tags_is_itself(text: str) -> None:
    assert read(list(text)) == (text.strip(), False)


def test_halves_of_a_character_are_joined_and_never_given_out() -> None:
    assert read(["\ud83c", "\udf0a tide"]) == ("🌊 tide", False)
    assert read(["tide \ud83c"]) == ("tide �", False)
    assert read(["\udf0a", "tide"]) == ("�tide", False)
