"""The seam of every second-stage step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from laya_retrieval.candidate import Candidate


@runtime_checkable
class Processor(Protocol):
    """A query and candidates to candidates.

    Pure: the input is never changed, nothing is remembered between calls, an empty list gives an
    empty list, and the output order is total (descending score, ties by ascending id) unless the
    processor says that it keeps the incoming order.
    """

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates after this step."""
        ...
