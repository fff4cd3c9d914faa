"""The one thing every function here takes and returns: a scored passage."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
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
    metadata: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id:
            raise CandidateError(f"a candidate needs a non-empty string id, not {self.id!r}")
        _check_score(self.id, self.score)

    def with_score(self, score: float) -> Candidate:
        """A copy with another score, which is checked as in the constructor."""
        return rescored([self], [score])[0]

    def with_metadata(self, **entries: Any) -> Candidate:
        """A copy whose metadata also holds `entries`, which win over what was there."""
        return replace(self, metadata={**self.metadata, **entries})


def _check_score(key: str, score: Any) -> None:
    try:
        finite = math.isfinite(score)
    except TypeError:
        finite = False
    if not finite:
        raise CandidateError(f"candidate {key!r}: score {score!r} is no finite number")


_SET_ID, _SET_SCORE, _SET_TEXT, _SET_METADATA = (
    Candidate.__dict__[name].__set__ for name in ("id", "score", "text", "metadata")
)


def rescored(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[Candidate]:
    """Copies with other scores, `(n,)` both; raises `CandidateError` for one that is not finite.

    Every fuser and reranker ends here. The ids were checked when the candidates were made, so the
    copies' slots are filled directly, one slot of all copies at a time: a quarter of the time that
    as many constructor calls take.
    """
    try:
        finite = all(map(math.isfinite, scores))
    except TypeError:
        finite = False
    if not finite:
        for candidate, score in zip(candidates, scores, strict=True):
            _check_score(candidate.id, score)
    copies = list(map(object.__new__, repeat(Candidate, len(candidates))))
    for setter, values in (
        (_SET_ID, (candidate.id for candidate in candidates)),
        (_SET_SCORE, scores),
        (_SET_TEXT, (candidate.text for candidate in candidates)),
        (_SET_METADATA, (candidate.metadata for candidate in candidates)),
    ):
        deque(map(setter, copies, values), maxlen=0)
    return copies


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates by descending score, ties by ascending id: a total, deterministic order."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.id))
