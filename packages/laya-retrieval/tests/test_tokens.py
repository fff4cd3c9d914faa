"""Token counters: an estimate without a download, tiktoken by name, or any callable."""

import sys
from types import SimpleNamespace

import laya_mini
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval.errors import PackError
from laya_retrieval.tokens import count_tokens, heuristic_tokens, resolve_counter
from laya_signals.errors import MissingExtraError


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t", 0),
        ("a recipe for sourdough bread", 5),
        ("internationalisation", 3),
        ("tax, fell.", 4),
        ("2023", 2),
        ("Straße", 2 + 1),  # ASCII letters and others are counted apart: Stra, ß, e
        ("налоги", 2),
        ("收入增长", 4),
        ("はい", 2),
        ("세금이", 3),
        ("😀", 1),
    ],
)
def test_the_heuristic_is_the_documented_sum(text, tokens):
    assert heuristic_tokens(text) == tokens


def test_a_cjk_paragraph_is_not_one_token():
    assert heuristic_tokens("公司收入在本季度增长" * 20) == 200


def test_a_literal_special_token_is_text():
    assert heuristic_tokens("<|endoftext|>") > 1


@given(st.text(max_size=80), st.text(max_size=80))
def test_texts_set_apart_cost_what_each_costs(left, right):
    assert heuristic_tokens(f"{left} {right}") == heuristic_tokens(left) + heuristic_tokens(right)


def test_a_callable_is_taken_as_it_is():
    assert resolve_counter(len) is len


def test_the_heuristic_goes_by_name():
    assert resolve_counter("heuristic") is heuristic_tokens


@pytest.mark.parametrize("name", ["tokens", "tiktoken", "tiktoken:", "", "heuristic:x"])
def test_an_unknown_name_is_an_error_that_shows_it(name):
    with pytest.raises(PackError, match=f"unknown token counter '{name}'"):
        resolve_counter(name)


def test_what_is_neither_name_nor_callable_is_an_error():
    with pytest.raises(PackError, match="name or a callable"):
        resolve_counter(3)


@pytest.mark.parametrize("returned", [-1, 1.5, "3", None, True])
def test_a_counter_must_return_a_natural_number(returned):
    with pytest.raises(PackError, match="'doc-7'"):
        count_tokens(lambda text: returned, "text", "doc-7")


def test_without_tiktoken_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(MissingExtraError, match=r"laya-retrieval\[tiktoken\]"):
        resolve_counter("tiktoken:o200k_base")


class FakeEncoding:
    """Refuses special tokens as tiktoken does, unless it is told that none is disallowed."""

    def encode(self, text, *, disallowed_special="all"):
        if disallowed_special == "all" and "<|endoftext|>" in text:
            raise ValueError("disallowed special token")
        return list(text.encode())


def fake_tiktoken(monkeypatch):
    def get_encoding(name):
        if name != "bytes":
            raise ValueError(f"Unknown encoding {name}")
        return FakeEncoding()

    monkeypatch.setitem(sys.modules, "tiktoken", SimpleNamespace(get_encoding=get_encoding))


def test_tiktoken_goes_by_the_name_of_its_encoding(monkeypatch):
    fake_tiktoken(monkeypatch)
    assert resolve_counter("tiktoken:bytes")("abc") == 3


def test_tiktoken_takes_special_tokens_for_text(monkeypatch):
    fake_tiktoken(monkeypatch)
    assert resolve_counter("tiktoken:bytes")("<|endoftext|>") == 13


def test_an_unknown_encoding_is_an_error_that_shows_it(monkeypatch):
    fake_tiktoken(monkeypatch)
    with pytest.raises(PackError, match="'gpt9'"):
        resolve_counter("tiktoken:gpt9")


@pytest.mark.slow
def test_the_real_tiktoken_counts_a_special_token_as_text(monkeypatch):
    tiktoken = pytest.importorskip("tiktoken", reason="needs the extra tiktoken")
    encoding = tiktoken.Encoding(
        name="bytes",
        pat_str=r"\S+|\s+",
        mergeable_ranks={bytes([i]): i for i in range(256)},
        special_tokens={"<|endoftext|>": 256},
    )
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: encoding)
    assert resolve_counter("tiktoken:bytes")("<|endoftext|>") == 13


PROSE = """The annual report covers revenue and tax in every region where the company operates. In
2023, quarterly revenue grew by 12.5 percent to $1,200.00 million, while operating expenditure fell
for the third consecutive year. "We are cautiously optimistic," the chair said, noting that interest
rates, exchange rates and the price of electricity remain uncertain. Researchers found that patients
who received the treatment recovered 3 days earlier than those in the control group (p < 0.05)."""


def test_the_heuristic_is_within_a_tenth_of_wordpiece_on_english_prose():
    path = laya_mini.data_folder() / "encoder" / "tokenizer.json"
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    real = len(tokenizer.encode(PROSE, add_special_tokens=False).ids)
    assert abs(heuristic_tokens(PROSE) / real - 1) < 0.1
