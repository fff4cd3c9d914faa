"""The seam of everything that says whether the evidence answers the question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from laya_retrieval.candidate import Candidate
from laya_retrieval.gate.verdict import Verdict


@runtime_checkable
class Gate(Protocol):
    """A query and candidates to a verdict; pure."""

    def judge(self, query: str, candidates: Sequence[Candidate]) -> Verdict:
        """What is kept, and whether that answers `query`."""
        ...
