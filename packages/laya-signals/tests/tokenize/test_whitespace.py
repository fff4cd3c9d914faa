import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_signals import ConfigError, Tokenizer
from laya_signals.tokenize.whitespace import WhitespaceTokenizer


@pytest.mark.parametrize(
    ("settings", "text", "terms"),
    [
        ({}, " \n", []),
        ({}, "C++ is\tNot\u3000C!", ["c++", "is", "not", "c!"]),
        ({"lower": False}, "Is Not", ["Is", "Not"]),
    ],
)
def test_terms_stand_between_white_space(settings: dict, text: str, terms: list[str]) -> None:
    assert WhitespaceTokenizer(settings).tokenize(text) == terms


@given(st.text())
def test_composed_and_decomposed_text_give_the_same_terms(text: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert WhitespaceTokenizer().tokenize(composed) == WhitespaceTokenizer().tokenize(decomposed)


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown key 'lowre'"):
        WhitespaceTokenizer(lowre=True)


def test_it_is_a_tokenizer() -> None:
    assert isinstance(WhitespaceTokenizer(), Tokenizer)
