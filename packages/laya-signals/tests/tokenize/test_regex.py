import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_signals import ConfigError, Tokenizer
from laya_signals.tokenize.regex import RegexTokenizer


@pytest.mark.parametrize(
    ("settings", "text", "terms"),
    [
        ({}, "", []),
        ({}, "Hello, World_1!", ["hello", "world_1"]),
        ({"lower": False}, "Hello, World!", ["Hello", "World"]),
        ({"pattern": r"[A-Z]+-\d+", "lower": False}, "see ABC-12 and x-1", ["ABC-12"]),
        ({"pattern": r"#(\w+)"}, "#Tag and plain", ["tag"]),
        ({"pattern": r"#(\w*)"}, "# and #b", ["b"]),
    ],
)
def test_terms_are_the_matches(settings: dict, text: str, terms: list[str]) -> None:
    assert RegexTokenizer(settings).tokenize(text) == terms


@given(st.text(st.sampled_from("aé́ÉñO\u0308 .")))
def test_composed_and_decomposed_text_give_the_same_terms(text: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert RegexTokenizer().tokenize(composed) == RegexTokenizer().tokenize(decomposed)


@pytest.mark.parametrize("pattern", ["(", "(a)(b)", "a*", ""])
def test_a_pattern_that_cannot_give_terms_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigError, match="RegexTokenizer: pattern"):
        RegexTokenizer(pattern=pattern)


def test_it_is_a_tokenizer_with_a_fingerprint_per_setting() -> None:
    one, other = RegexTokenizer(), RegexTokenizer(lower=False)
    assert isinstance(one, Tokenizer)
    assert one.fingerprint == RegexTokenizer({}).fingerprint
    assert one.fingerprint != other.fingerprint
