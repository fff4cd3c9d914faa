"""Lucene's English analyzer.

Expected terms follow from the analyzer's stages: UAX #29 words, possessives, lower case, stop
words, Porter's stemmer.
"""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_signals import ConfigError, Tokenizer, signals
from laya_signals.tokenize.lucene import LuceneTokenizer
from laya_signals.tokenize.stopwords import ENGLISH
from laya_signals.tokenize.word import WordTokenizer

ENGLISH_ANALYZER = LuceneTokenizer()
WORDS = LuceneTokenizer(stop_words=False, stem=False)


def test_it_is_a_tokenizer_of_the_registry():
    assert isinstance(signals.resolve({"provider": "tokenizer.lucene"}, Tokenizer), LuceneTokenizer)
    assert len({LuceneTokenizer(stem=stem).fingerprint for stem in (True, False)}) == 2
    with pytest.raises(ConfigError, match="stem"):
        LuceneTokenizer(stem="porter")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("The quick brown fox.", ["the", "quick", "brown", "fox"]),
        ("don't O'Neill's dogs' Bob’s", ["don't", "o'neill", "dogs'".strip("'"), "bob"]),
        ("'quoted' s's", ["quoted", "s"]),
        ("covid-19 C++ c# .NET asp.net", ["covid", "19", "c", "c", "net", "asp.net"]),
        ("3.14 1,200 1,200.5 v1.2 1. 2", ["3.14", "1,200", "1,200.5", "v1.2", "1", "2"]),
        ("a1 2b x.1 1.x", ["a1", "2b", "x", "1", "1", "x"]),
        ("snake_case __init__ _ a_1", ["snake_case", "__init__", "a_1"]),
        ("jane@mail.example.com/x?y=1", ["jane", "mail.example.com", "x", "y", "1"]),
        ("naïve NAÏVE cafe\u0301", ["naïve", "naïve", "cafe\u0301"]),
        ("ΑΣ İ", ["ας".replace("ς", "σ"), "i"]),
        ("東京 のカタカナ 한국어", ["東", "京", "の", "カタカナ", "한국어"]),
        ("ไทย", ["ไทย"]),
        ("🎉 ... --", []),
    ],
)
def test_words_are_unicode_s(text, terms):
    assert WORDS.tokenize(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        (
            "The ecology of possibly mutated genes' expression",
            ["ecolog", "possibl", "mutat", "gene", "express"],
        ),
        ("This is not it.", []),
        ("U.S. policy in the U.K", ["u.", "polici", "u.k"]),
        ("John's it's", ["john"]),
        ("running ran runs", ["run", "ran", "run"]),
    ],
)
def test_english_is_stopped_and_stemmed(text, terms):
    assert ENGLISH_ANALYZER.tokenize(text) == terms


def test_the_stop_words_are_lucene_s_thirty_three():
    assert len(ENGLISH) == 33
    assert ENGLISH_ANALYZER.tokenize(" ".join(sorted(ENGLISH))) == []
    assert WordTokenizer(stop_words="lucene").tokenize("the cat") == ["cat"]


def test_a_word_of_any_length_gives_bounded_terms():
    assert [len(term) for term in WORDS.tokenize("a" * 600)] == [255, 255, 90]


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_terms_are_never_empty_and_hold_no_white_space(text):
    for term in WORDS.tokenize(text):
        assert term
        assert not any(char.isspace() for char in term)


@given(st.text(st.sampled_from("abcxyz ,;!?"), max_size=60))
def test_plain_words_are_what_the_word_tokenizer_finds(text):
    assert WORDS.tokenize(text) == WordTokenizer().tokenize(text)


@given(st.text(st.sampled_from("aé語1_.' \u0301"), max_size=30))
def test_no_letter_or_digit_vanishes(text):
    seen = "".join(LuceneTokenizer(stop_words=False, stem=False).tokenize(text))
    kept = [char for char in text if unicodedata.category(char) in {"Ll", "Lo", "Nd"}]
    assert [char for char in seen if unicodedata.category(char) in {"Ll", "Lo", "Nd"}] == kept
