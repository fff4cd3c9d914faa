"""Terms as Lucene's `EnglishAnalyzer` makes them: what published BM25 figures are measured with."""

from __future__ import annotations

import regex

from laya_signals.component import Component, ComponentConfig
from laya_signals.tokenize.porter import porter_stem
from laya_signals.tokenize.stopwords import ENGLISH

# Unicode's rules for words (UAX #29), as Lucene's StandardTokenizer has them.
_EXTEND = r"[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]*+"
_LETTER = rf"[\p{{WB=ALetter}}\p{{WB=Hebrew_Letter}}]{_EXTEND}"
_DIGIT = rf"\p{{WB=Numeric}}{_EXTEND}"
_KATAKANA = rf"\p{{WB=Katakana}}{_EXTEND}"
_LOW_LINE = rf"\p{{WB=ExtendNumLet}}{_EXTEND}"
_IN_WORD = rf"[\p{{WB=MidLetter}}\p{{WB=MidNumLet}}\p{{WB=Single_Quote}}]{_EXTEND}"
_IN_NUMBER = rf"[\p{{WB=MidNum}}\p{{WB=MidNumLet}}\p{{WB=Single_Quote}}]{_EXTEND}"
_PART = (
    rf"(?:(?:{_LETTER}(?:{_IN_WORD}(?={_LETTER}))?|{_DIGIT}(?:{_IN_NUMBER}(?={_DIGIT}))?)++"
    rf"|(?:{_KATAKANA})++)"
)
_TERM = regex.compile(
    rf"(?V1)(?:{_LOW_LINE})*+{_PART}(?:(?:{_LOW_LINE})++{_PART})*+(?:{_LOW_LINE})*+"
    rf"|[\p{{Han}}\p{{Hiragana}}]{_EXTEND}"
    rf"|\p{{LB=SA}}++"
)
_POSSESSIVE = regex.compile(r"['’＇][sS]\Z")
_LONGEST = 255


class LuceneTokenizerConfig(ComponentConfig):
    """Settings of `tokenizer.lucene`: the analyzer's two filters that may be left out."""

    stop_words: bool = True
    stem: bool = True


class LuceneTokenizer(Component[LuceneTokenizerConfig]):
    """StandardTokenizer, possessives, lower case, thirty-three stop words, Porter's stemmer.

    For comparing with figures from Lucene, Anserini or Elasticsearch. It makes less findable than
    `tokenizer.word`: `c++` is `c`, `asp.net` and `snake_case` are one term each, accents stay, and
    Chinese is single characters. Emoji, which newer releases of Lucene keep, are dropped.
    """

    Config = LuceneTokenizerConfig

    def tokenize(self, text: str) -> list[str]:
        """The terms of `text` in reading order."""
        terms = []
        for word in _TERM.findall(text):
            for start in range(0, len(word), _LONGEST):
                term = _lower(_POSSESSIVE.sub("", word[start : start + _LONGEST]))
                if not (self.config.stop_words and term in ENGLISH):
                    terms.append(porter_stem(term) if self.config.stem else term)
        return terms


def _lower(term: str) -> str:
    """Letter by letter, as Java does: no final sigma, and one letter for a dotted capital I."""
    if term.isascii():
        return term.lower()
    return "".join("i" if letter == "İ" else letter.lower() for letter in term)
