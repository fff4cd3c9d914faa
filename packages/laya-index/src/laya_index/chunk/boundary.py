"""Where a text may be cut: between sentences, between words, never inside a character."""

from __future__ import annotations

import regex

# What belongs to the character before it.
_EXTENDS = r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]"
# What closes a sentence after its end mark and still belongs to it.
_CLOSES = r"\p{Pe}\p{Pf}"
# Before a sentence: an end mark and white space, a CJK end mark, or a line break.
_SENTENCE_BREAK = regex.compile(
    rf"""
      (?: [.!?…][{_CLOSES}"'’”]*+\s++
        | [。！？｡][{_CLOSES}]*+\s*+
        | \n\s*+ )
      (?=\S)(?!{_EXTENDS})
    """,
    regex.VERBOSE,
)
_WORD_BREAK = regex.compile(rf"\s(?=\S)(?!{_EXTENDS})")
_CHARACTER = regex.compile(r"\X")
# How far back to look for a place where characters can be counted from.
_REACH = 256


def skip_blank(text: str, position: int) -> int:
    """The first position at or after `position` that holds no white space."""
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def sentence_starts(text: str) -> list[int]:
    """Where a sentence may begin, in order; not the start of the text."""
    return [match.end() for match in _SENTENCE_BREAK.finditer(text)]


def word_starts(text: str, least: int, limit: int) -> list[int]:
    """Where words begin after white space, in `least..limit`, in order."""
    found = _WORD_BREAK.finditer(text, max(0, least - 1), limit + 1)
    return [match.end() for match in found]


def character_cut(text: str, least: int, limit: int, most: int) -> int:
    """The last end of a character (as a reader sees it) in `least..limit`.

    Without one, the next that follows, but at most `most`.
    """
    place = limit
    while place > max(0, limit - _REACH) and not text[max(0, place - 1) : place + 1].isascii():
        place -= 1
    ends = [place] if place else []
    for match in _CHARACTER.finditer(text, place):
        ends.append(match.end())
        if match.end() > limit:
            break
    fitting = [end for end in ends if least <= end <= limit]
    return fitting[-1] if fitting else min(ends[-1], most)
