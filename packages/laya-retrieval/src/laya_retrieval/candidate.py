"""The one thing every function here takes and returns: a scored passage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from laya_retrieval.errors import CandidateError

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage with its score; immutable, identified by its id alone.

    `score` is finite; its unit is whatever produced it (BM25, cosine, a fused score). `metadata`
    is never changed in place: `with_metadata` returns a copy. Raises `CandidateError` for an
    empty id or a score that is not a finite number.
    """

    id: str
    score: float
    text: str = ""
    metadata: Mapping[str, Any] = field(default=_NOTHING)

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id:
            raise CandidateError(f"a candidate needs a non-empty string id, not {self.id!r}")
        try:
            finite = math.isfinite(self.score)
        except TypeError:
            finite = False
        if not finite:
            raise CandidateError(f"candidate {self.id!r}: score {self.score!r} is no finite number")

    def with_score(self, score: float) -> Candidate:
        """A copy with another score."""
        return replace(self, score=score)

    def with_metadata(self, **entries: Any) -> Candidate:
        """A copy whose metadata also holds `entries`, which win over what was there."""
        return replace(self, metadata={**self.metadata, **entries})


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates by descending score, ties by ascending id: a total, deterministic order."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.id))
