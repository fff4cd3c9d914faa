"""Terms are words as a reader sees them, in any script."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

import regex
import Stemmer
from pydantic import field_validator

from laya_signals.component import Component, ComponentConfig
from laya_signals.tokenize import stopwords
from laya_signals.tokenize.elision import elided_words, elision

# Scripts written without spaces between words: their runs become overlapping pairs of characters,
# so that any word of two characters or more can be found without a dictionary.
_UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々ﾞﾟ"
)
# Letters, and letters or digits, of the other scripts.
_LETTER = rf"[\p{{L}}--[{_UNSPACED}]]"
_ALNUM = rf"[[\p{{L}}\p{{N}}]--[{_UNSPACED}]]"

# Read top to bottom: the first alternative that matches at a place wins.
_TERM = regex.compile(
    rf"""(?V1)
      (?:(?<!{_ALNUM})v)?\p{{N}}++(?:[.,]\p{{N}}++)+               # 3.14  1,200  v1.2.3
    | (?<!{_ALNUM}|[_.])\.{_LETTER}{{2,15}}(?!{_ALNUM}|[_.])          # .net
    | {_LETTER}{_ALNUM}{{0,14}}(?:\+\+|\#)(?!{_ALNUM}|[+\#])          # c++  c#
    | [{_UNSPACED}][{_UNSPACED}\p{{M}}]*
    | [[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]++
        (?:'(?:t|m|d|re|ve|ll|s)(?![\p{{L}}\p{{M}}\p{{N}}]))?     # I'm  don't  John's
    """,
    regex.VERBOSE,
)
# The same for ASCII text, where it is several times faster.
_ASCII_TERM = re.compile(
    r"""
      (?:(?<![a-z0-9])v)?[0-9]+(?:[.,][0-9]+)+
    | (?<![a-z0-9_.])\.[a-z]{2,15}(?![a-z0-9_.])
    | [a-z][a-z0-9]{0,14}(?:\+\+|\#)(?![a-z0-9+\#])
    | [a-z0-9]+(?:'(?:t|m|d|re|ve|ll|s)(?![a-z0-9]))?
    """,
    re.VERBOSE,
)
_STARTS_UNSPACED = regex.compile(rf"[{_UNSPACED}]")
# One apostrophe for all of them; a soft hyphen only says where a word may be broken; the full-width
# forms of ASCII characters are those characters.
_SPELLINGS: dict[int, int | None] = {0x2019: 0x27, 0x02BC: 0x27, 0x00AD: None}
_SPELLINGS.update({0xFF01 + offset: 0x21 + offset for offset in range(94)})
_THOUSANDS = regex.compile(r"\p{N}{1,3}(?:,\p{N}{3})+(?:\.\p{N}+)?")
_CHARACTER = regex.compile(r"\X")
_IDEOGRAPH = regex.compile(r"\p{Han}")
_FOLDABLE = regex.compile(r"(?<=[\p{Latin}\p{Greek}])\p{Mn}+")

# A "word" beyond this is no word (base64, a minified script): it is cut so that one odd file
# cannot blow up the vocabulary's size in bytes. Lucene's limit.
_LONGEST = 255


class WordTokenizerConfig(ComponentConfig):
    """Settings of `tokenizer.word`.

    `stem` is a Snowball language ("english", "german", …) or None. `stop_words` is the name of a
    list ("english", which is Lucene's, "german", …), an explicit list of words, or None.
    """

    stem: str | None = None
    stop_words: str | tuple[str, ...] | None = None

    @field_validator("stem")
    @classmethod
    def _known_language(cls, stem: str | None) -> str | None:
        if stem is not None and stem not in Stemmer.algorithms():
            known = ", ".join(sorted(Stemmer.algorithms()))
            raise ValueError(f"no Snowball stemmer for {stem!r}; known are {known}")
        return stem

    @field_validator("stop_words")
    @classmethod
    def _known_list(cls, stop_words: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        if isinstance(stop_words, str):
            try:
                stopwords.stop_list(stop_words)
            except KeyError:
                known = ", ".join(stopwords.languages())
                raise ValueError(
                    f"no stop-word list for {stop_words!r}; known are {known}; "
                    "or give the words themselves as a list"
                ) from None
        return stop_words


class WordTokenizer(Component[WordTokenizerConfig]):
    """Unicode words, case and accents folded, stop words dropped, then stemmed.

    - Composed and decomposed text (NFC, NFD) give the same terms; `Café`, `cafe` and `CAFÉ` too.
    - Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese runs become overlapping pairs,
      with each ideograph also alone.
    - `3.14` and `1.2.3` are one term, `1,200` is `1200`; `c++`, `c#` and `.net` are a term beside
      the bare word; `covid-19` and `snake_case` are their parts, so each part is found alone;
      `I'm` and `don't` are one term, and a possessive `'s` is dropped.
    - With `stem: english` accents are folded before stemming, otherwise after it: the other
      languages' rules read them.
    - With French, Italian or Catalan stemming, elided words are dropped (`l'homme`, `dell'arte`).
    """

    Config = WordTokenizerConfig

    def __init__(
        self, config: Mapping[str, Any] | ComponentConfig | None = None, /, **settings: Any
    ) -> None:
        super().__init__(config, **settings)
        self._prepare()

    def _prepare(self) -> None:
        stem = self.config.stem
        self._fold_first = stem is None or stem in {"english", "porter", "lovins"}
        self._stem: Callable[[list[str]], list[str]] | None = None
        if stem is not None:
            self._stem = Stemmer.Stemmer(stem).stemWords
        self._elision = elision(stem)
        self._stop = self._stop_terms(self.config.stop_words)

    def _stop_terms(self, words: str | tuple[str, ...] | None) -> frozenset[str]:
        if words is None:
            return frozenset()
        if not isinstance(words, str):
            return frozenset(term for word in words for term in self._words(word))
        if stopwords.is_own(words):
            return frozenset(stopwords.stop_list(words))
        # A phrase is no reason to drop its words.
        split = (self._words(word) for word in stopwords.stop_list(words))
        return frozenset(terms[0] for terms in split if len(terms) == 1)

    def fingerprint_extra(self) -> Any:
        """What other packages may change: a language's stop words. And what is elided."""
        words, elided = self.config.stop_words, elided_words(self.config.stem)
        named = isinstance(words, str) and not stopwords.is_own(words)
        return [sorted(self._stop) if named else None, elided] if named or elided else None

    def __getstate__(self) -> dict[str, Any]:
        return {"config": self.config}  # a Snowball stemmer does not pickle

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.config = state["config"]
        self._prepare()

    def tokenize(self, text: str) -> list[str]:
        """The terms of `text` in reading order."""
        words = self._words(text)
        if self._stop:
            words = [word for word in words if word not in self._stop]
        if self._stem is not None:
            words = self._stem(words)
            if not self._fold_first:
                words = [word if word.isascii() else _fold_accents(word) for word in words]
        return words

    def _words(self, text: str) -> list[str]:
        if text.isascii():
            text = text.lower()
            if self._elision is not None:
                text = self._elision.sub("", text)
            found = _ASCII_TERM.findall(text)
        else:
            text = unicodedata.normalize("NFC", text).translate(_SPELLINGS).casefold()
            if self._elision is not None:
                text = self._elision.sub("", text)
            text = _fold_accents(text) if self._fold_first else unicodedata.normalize("NFC", text)
            found = _TERM.findall(text)
        words: list[str] = []
        for term in found:
            if term.isascii() and term.isalnum():
                words.append(term[:_LONGEST])
            else:
                words += _special(term)
        return words


def _special(term: str) -> list[str]:
    """The terms that a word with a mark in it, or of another script, stands for."""
    if _STARTS_UNSPACED.match(term):
        return _unspaced(term)
    if term[0] == "." or term[-1] in "+#":  # .net, c++: findable with the mark and without
        return [term, term.strip(".+#")]
    if "." in term or "," in term:
        number = term.removeprefix("v")
        whole = _THOUSANDS.fullmatch(number)
        return [(number.replace(",", "") if whole else number)[:_LONGEST]]
    return [term.removesuffix("'s")[:_LONGEST]]


def _fold_accents(text: str) -> str:
    """Latin and Greek letters without their marks; other scripts keep theirs, which carry sense."""
    bare = _FOLDABLE.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare)


def _unspaced(run: str) -> list[str]:
    """Overlapping pairs of characters, and each ideograph alone: one can be a whole query."""
    letters: list[str] = _CHARACTER.findall(run)
    if len(letters) == 1:
        return letters
    pairs = [first + second for first, second in itertools.pairwise(letters)]
    return pairs + [letter for letter in letters if _IDEOGRAPH.match(letter)]
