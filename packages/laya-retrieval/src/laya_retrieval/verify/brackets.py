"""Finds citation brackets: `[1]`, `[1, 2]`, `[1-3]`, `[1–3]`, 【1】."""

from __future__ import annotations

import re

from laya_retrieval.sentences import Span
from laya_retrieval.verify.report import Citation

__all__ = ["BRACKET", "find_citations"]

_NUMBER = r"\d{1,18}"
_RANGE = r"\s*[-‐‑–—−~～]\s*"
_PART = rf"{_NUMBER}(?:{_RANGE}{_NUMBER})?"
_LIST = r"\s*[,;，、；]\s*"

#: A bracket around numbers, lists and ranges. One behind a backslash or `!` is no citation.
BRACKET = re.compile(rf"(?<![\\!])[\[［【]\s*({_PART}(?:{_LIST}{_PART})*)\s*[\]］】]")

_PARTS = re.compile(rf"({_NUMBER})(?:{_RANGE}({_NUMBER}))?")


def find_citations(masked: str, passages: int) -> list[Citation]:
    """The citations in an answer whose markup is masked, judged against the number of passages.

    A range names every passage between its ends, whichever comes first; of a range that reaches
    beyond the passages, those that exist are named and the range counts as out of range too.
    `[0]` is out of range: passages are numbered from 1.
    """
    return [_citation(match, passages) for match in BRACKET.finditer(masked)]


def _citation(match: re.Match[str], passages: int) -> Citation:
    numbers: set[int] = set()
    out_of_range = []
    for part in _PARTS.finditer(match.group(1)):
        ends = [int(end) for end in part.groups() if end is not None]
        low, high = min(ends), max(ends)
        # Clamped before it is expanded: [1-999999999] must not become a billion numbers.
        numbers.update(range(max(low, 1), min(high, passages) + 1))
        if low < 1 or high > passages:
            out_of_range.append(part.group())
    return Citation(match.group(), Span(*match.span()), tuple(sorted(numbers)), tuple(out_of_range))
