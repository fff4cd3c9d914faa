"""Names that the first search found and the question lacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from laya_retrieval.candidate import Candidate

_WORD = re.compile(r"[^\W_][\w’'-]*")
_ENDS_A_SENTENCE = re.compile(r"[.!?:;\n]")


def probes(query: str, candidates: Sequence[Candidate], limit: int) -> list[str]:
    """At most `limit` names, the most telling first; empty where scripts have no capitals.

    A name is a run of capitalised words. The first word of a sentence only counts when the pool
    also writes it large inside a sentence, and never small. A name is worth the sum of
    1 / (60 + rank) over the candidates whose text has it, so that one which several good passages
    share comes first; ties go by the alphabet. Names of which every word stands in the question
    bring nothing new and are left out, as is one that shares all its words with a better one, or
    the other way round.
    """
    asked = _words(query)
    words = [word for candidate in candidates for word in _read(candidate.text)]
    small = {word.text for word in words if not word.large}
    inside = {word.text for word in words if word.large and not word.opens}
    inside = {text for text in inside if text.casefold() not in small}
    names = {name for candidate in candidates for name in _names(candidate.text, inside)}
    worth = {
        name: sum(
            1 / (60 + rank)
            for rank, candidate in enumerate(candidates, start=1)
            if name in candidate.text
        )
        for name in names
        if not _words(name) <= asked
    }
    chosen: list[str] = []
    for name in sorted(worth, key=lambda name: (-worth[name], name)):
        own = _words(name)
        if len(chosen) < limit and not any(
            own <= _words(other) or own >= _words(other) for other in chosen
        ):
            chosen.append(name)
    return chosen


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    large: bool
    #: Whether a sentence begins with it.
    opens: bool
    #: Whether nothing but a blank parts it from the word before.
    follows: bool


def _read(text: str) -> list[_Word]:
    words = []
    end = 0
    for match in _WORD.finditer(text):
        gap = text[end : match.start()]
        opens = end == 0 or _ENDS_A_SENTENCE.search(gap) is not None
        words.append(_Word(match.group(), match.group()[0].isupper(), opens, gap == " "))
        end = match.end()
    return words


def _names(text: str, inside: set[str]) -> list[str]:
    """The runs of capitalised words that only a blank separates."""
    runs: list[list[str]] = []
    running = False
    for word in _read(text):
        name = word.large and (not word.opens or word.text in inside)
        if name and running and word.follows:
            runs[-1].append(word.text)
        elif name:
            runs.append([word.text])
        running = name
    return [" ".join(run) for run in runs]
