"""Finds quoted words in an answer and looks them up in the passages, word for word."""

from __future__ import annotations

import re
from collections.abc import Mapping

from laya_retrieval.sentences import Span
from laya_retrieval.verify.fold import Folded

__all__ = ["find_quotes", "look_up_quote"]

# Opening mark to the marks that may close it.
_PAIRS: Mapping[str, str] = {
    '"': '"',
    "＂": "＂",
    "“": "”",
    "„": "“”",
    "‟": "”",
    "”": "”",  # Swedish and Finnish
    "«": "»",
    "»": "«»",  # German and Danish, Swedish
    "‹": "›",
    "›": "‹",
    "「": "」",
    "『": "』",
    "〝": "〞〟",
    "'": "'",
    "‘": "’",
    "‚": "‘’",
}
_OPENING = re.compile("[" + "".join(_PAIRS) + "]")
# Marks that are always opening; the others open only where a word could begin.
_ONLY_OPENING = frozenset("“„‟「『〝‚")
_SINGLE = frozenset("'‘‚‹›")
_NESTING = frozenset("「『“«")
_CLOSERS = {mark: re.compile(f"[{closers}]") for mark, closers in _PAIRS.items()}
_STOPS = {
    mark: re.compile(f"[{closers}{mark if mark in _NESTING else ''}]")
    for mark, closers in _PAIRS.items()
}
_ELISION = re.compile(r"['‘’](?:\d\ds?|tis|twas|em|til|cause|bout|round|n|cos)\b", re.IGNORECASE)
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_LONGEST = 2000

_EDGES = re.compile(r"(?:\s|\.{3}|…|\[(?:\.{3}|…)\])+")
_WORD = re.compile(r"\w")


def find_quotes(text: str) -> list[Span]:
    """The spans between paired quotation marks, outermost pairs only, without the marks.

    Straight and curly, single and double, «», »«, „“, ‹›, 「」 and 『』. An apostrophe or an inch
    mark opens nothing, a pair does not reach across a blank line, and what holds no letter or
    digit is no quote. White space and marks of omission at the edges are not part of the span.
    """
    quotes: list[Span] = []
    place = 0
    while opening := _OPENING.search(text, place):
        place = opening.end()
        if not _opens(text, opening.start()):
            continue
        close = _closing(text, opening.start())
        if close is None:
            continue
        span = _without_edges(text, opening.end(), close)
        if span is not None:
            quotes.append(span)
        place = close + 1
    return quotes


def look_up_quote(quote: Folded, passage: Folded) -> list[Span]:
    """Where the folded passage holds the folded quote; spans of the unfolded passage, in order.

    A comma or full stop that American typography moved inside the marks is dropped when the quote
    does not occur with it.
    """
    needle = quote.text.strip()
    found = list(passage.find_all(needle))
    if not found and needle[-1:] in (",", ".", "。", "，") and len(needle) > 1:
        found = list(passage.find_all(needle[:-1].rstrip()))
    return found


def _opens(text: str, place: int) -> bool:
    mark = text[place]
    before = text[place - 1] if place else " "
    after = text[place + 1 : place + 2]
    if not after:
        return False
    if mark in _ONLY_OPENING:
        return True
    if mark in "'‘" and _ELISION.match(text, place):
        return False
    spaced_inside = mark in "«»‹›"  # French: « texte »
    if after.isspace() and not spaced_inside:
        return False
    if mark in "»›" and after.isspace():
        return False
    return not _spaced_word(before) and before not in ".,!?)]%"


def _spaced_word(character: str) -> bool:
    """Whether the character is a letter or digit of a script that sets spaces between words."""
    return character.isalnum() and not "\u2e80" <= character <= "\U0003ffff"


def _closing(text: str, opening: int) -> int | None:
    """The place of the mark that closes the one at `opening`, within the paragraph."""
    mark = text[opening]
    end = min(len(text), opening + _LONGEST)
    paragraph = _PARAGRAPH_END.search(text, opening, end)
    if paragraph:
        end = paragraph.start()
    if not _CLOSERS[mark].search(text, opening + 1, end):
        return None
    depth = 0
    for match in _STOPS[mark].finditer(text, opening + 1, end):
        if match.group() == mark and mark in _NESTING:
            depth += 1
        elif _closes(text, match.start(), mark):
            if depth == 0:
                return match.start()
            depth -= 1
    return None


def _closes(text: str, place: int, opening: str) -> bool:
    if opening in "“„‟«「『〝" and opening not in _SINGLE:
        return True
    after = text[place + 1 : place + 2]
    before = text[place - 1]
    if opening in "\"'‘‚＂”" and before.isspace():
        return False
    return not (after and _spaced_word(after))


def _without_edges(text: str, start: int, end: int) -> Span | None:
    leading = _EDGES.match(text, start, end)
    if leading:
        start = leading.end()
    # From the right by hand: a search anchored at the end would try every place.
    while True:
        kept = text[start:end].rstrip()
        for omission in ("[...]", "[…]", "...", "…"):
            kept = kept.removesuffix(omission)
        if start + len(kept) == end:
            break
        end = start + len(kept)
    return Span(start, end) if _WORD.search(text, start, end) else None
