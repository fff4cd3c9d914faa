"""Folds a text for comparison and keeps, for every folded character, where it came from.

Folded are case, white space, quotation marks, and Unicode forms that are one character in another
dress (NFKC). Not folded are superscripts, fractions and circled numbers: `10²` is not `102`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from laya_retrieval.sentences import Span

__all__ = ["DOUBLE_MARKS", "SINGLE_MARKS", "Folded", "fold"]

#: Quotation marks of the double kind, and apostrophes with the single kind.
DOUBLE_MARKS = frozenset('"“”„‟«»〝〞〟＂「」『』❝❞')
SINGLE_MARKS = frozenset("'‘’‚‛‹›＇ʼ❛❜")

# Invisible characters that copying and PDF extraction leave behind.
_IGNORED = "\u00ad\u200b\u200c\u200d\u2060\ufeff\U000e0000-\U000e007f"
_PLAIN = r"[a-zA-Z0-9.,;:!?()\-]+"
_CLUSTER = re.compile(
    # Words with single blanks between, but not before what might combine with the last letter.
    rf"(?P<plain>{_PLAIN}(?: {_PLAIN})*(?![\u0300-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]))"
    rf"|(?P<blank>\s(?:[\s{_IGNORED}]*\s)?)|(?P<ignored>[{_IGNORED}]+)|(?P<other>.)",
    re.DOTALL,
)
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\U0003ffff]")
# The last is that of spacing accents, which NFKC takes for a blank with a mark.
_KEPT_FORMS = ("<super>", "<sub>", "<fraction>", "<circle>", "<compat> 0020")


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text; its character i came from `source[starts[i]:ends[i]]`."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def find_all(self, needle: str) -> Iterator[Span]:
        """Where `needle`, itself folded, occurs as whole words; spans of the unfolded text.

        Occurrences do not overlap. An empty needle is nowhere.
        """
        place = self.text.find(needle) if needle else -1
        while place >= 0:
            end = place + len(needle)
            if not self._cuts_word(place) and not self._cuts_word(end):
                yield Span(self.starts[place], self.ends[end - 1])
                place = self.text.find(needle, end)
            else:
                place = self.text.find(needle, place + 1)

    def _cuts_word(self, place: int) -> bool:
        """Whether a word of a script with spaces runs across `place`."""
        if not 0 < place < len(self.text):
            return False
        return _in_word(self.text[place - 1]) and _in_word(self.text[place])


def fold(text: str) -> Folded:
    """The folded `text`: equal for texts that differ only in what folding ignores."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for match in _CLUSTER.finditer(text):
        start, end = match.span()
        if start < done:  # a mark that was taken together with its letter
            continue
        if match.lastgroup == "plain":
            pieces.append(match.group().lower())
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
            continue
        if match.lastgroup == "blank":
            piece = "" if _inside_guillemets(text, start, end) else " "
        elif match.lastgroup == "ignored":
            piece = ""
        else:
            while end < len(text) and _extends(text[end]):
                end += 1
            piece = _fold_cluster(text, start, end)
        pieces.append(piece)
        starts.extend([start] * len(piece))
        ends.extend([end] * len(piece))
        done = end
    return Folded("".join(pieces), tuple(starts), tuple(ends))


def _fold_cluster(text: str, start: int, end: int) -> str:
    """One character with the marks that combine with it, folded."""
    cluster = text[start:end]
    if cluster in DOUBLE_MARKS:
        # After a digit it may be inches or seconds, which an apostrophe is not.
        return '"' if start and text[start - 1].isdigit() else "'"
    if cluster in SINGLE_MARKS:
        return "'"
    return _fold_form(cluster)


@lru_cache(maxsize=4096)
def _fold_form(cluster: str) -> str:
    composed = unicodedata.normalize("NFC", cluster)
    if len(composed) == 1 and unicodedata.decomposition(composed).startswith(_KEPT_FORMS):
        return composed
    folded = unicodedata.normalize("NFKC", composed).casefold()
    return unicodedata.normalize("NFKC", folded)


def _extends(character: str) -> bool:
    """Whether the character belongs to the one before: a combining mark, or a jamo."""
    return bool(unicodedata.combining(character)) or "\u1160" <= character <= "\u11ff"


def _inside_guillemets(text: str, start: int, end: int) -> bool:
    """Whether the blank is the one that French sets inside its marks: « texte »."""
    if start and text[start - 1] in "«‹":
        return start == 1 or not (text[start - 2].isalnum() or text[start - 2] in ".,!?")
    if end < len(text) and text[end] in "»›":
        return end + 1 == len(text) or not text[end + 1].isalnum()
    return False


def _in_word(character: str) -> bool:
    # Ideographs, kana, Hangul, Thai and the like are written without spaces between words.
    return character.isalnum() and not _UNSPACED.match(character)
