"""The same thing said twice is said once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from laya_signals.component import Component, ComponentConfig
from numpy.typing import NDArray
from pydantic import Field

from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import ProcessorError


class DedupConfig(ComponentConfig):
    """Settings of `processor.dedup`."""

    #: Cosine from which two candidates with vectors are the same; None compares no vectors.
    threshold: float | None = Field(default=0.95, gt=0, le=1)
    #: Metadata key of a candidate's vector, `(d,)`, any length above 0.
    vector_key: str = "embedding"
    #: Shingle Jaccard from which two texts are the same; None compares no shingles.
    jaccard: float | None = Field(default=None, gt=0, le=1)
    #: Words per shingle.
    shingle: int = Field(default=3, ge=1)


class Deduplicator(Component[DedupConfig]):
    """Drops a candidate that repeats one before it; keeps the incoming order.

    The same: equal text after white space is folded; or a cosine of at least `threshold` where
    both have vectors; or a shingle Jaccard of at least `jaccard`. Candidates without text are only
    compared by vector. A kept one names what it stands for in `metadata["duplicates"]`, a tuple of
    ids. Each candidate is compared with kept ones only, so doing it twice changes nothing.

    Raises `ProcessorError` for a vector that is malformed, zero, or of another dimension than the
    ones before it.
    """

    Config = DedupConfig

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:  # noqa: ARG002
        """The candidates that repeat none before them."""
        kept: list[Candidate] = []
        repeats: dict[int, list[str]] = {}
        by_text: dict[str, int] = {}
        shingles: list[frozenset[tuple[str, ...]]] = []
        vectors = _Vectors(len(candidates))
        for candidate in candidates:
            folded = " ".join(candidate.text.split())
            vector = self._vector(candidate)
            own = self._shingles(folded)
            match = by_text.get(folded) if folded else None
            if match is None and vector is not None and self.config.threshold is not None:
                match = vectors.nearest(candidate.id, vector, self.config.threshold)
            if match is None and self.config.jaccard is not None and own:
                match = _similar(own, shingles, self.config.jaccard)
            if match is not None:
                repeats.setdefault(match, []).append(candidate.id)
                continue
            position = len(kept)
            kept.append(candidate)
            shingles.append(own)
            if folded:
                by_text.setdefault(folded, position)
            if vector is not None:
                vectors.add(position, vector)
        return [
            candidate.with_metadata(
                duplicates=(*candidate.metadata.get("duplicates", ()), *repeats[position])
            )
            if position in repeats
            else candidate
            for position, candidate in enumerate(kept)
        ]

    def _shingles(self, folded: str) -> frozenset[tuple[str, ...]]:
        if self.config.jaccard is None:
            return frozenset()
        words = folded.casefold().split()
        size = min(self.config.shingle, len(words))
        if size == 0:
            return frozenset()
        return frozenset(tuple(words[i : i + size]) for i in range(len(words) - size + 1))

    def _vector(self, candidate: Candidate) -> NDArray[np.float64] | None:
        if self.config.threshold is None:
            return None
        raw = candidate.metadata.get(self.config.vector_key)
        if raw is None:
            return None
        try:
            vector = np.asarray(raw, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ProcessorError(f"candidate {candidate.id!r}: malformed vector: {error}") from None
        if vector.ndim != 1 or not bool(np.all(np.isfinite(vector))):
            raise ProcessorError(
                f"candidate {candidate.id!r}: its vector must be one row of finite numbers"
            )
        length = float(np.linalg.norm(vector))
        if length == 0:
            raise ProcessorError(f"candidate {candidate.id!r}: its vector is zero")
        unit: NDArray[np.float64] = vector / length
        return unit


class _Vectors:
    """Unit vectors of the kept candidates, compared all at once."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._rows: NDArray[np.float64] | None = None
        self._positions: list[int] = []

    def nearest(self, key: str, vector: NDArray[np.float64], threshold: float) -> int | None:
        """The position of the first kept vector at `threshold` or closer."""
        if self._rows is None:
            return None
        if vector.size != self._rows.shape[1]:
            raise ProcessorError(
                f"candidate {key!r}: its vector has {vector.size} dimensions, "
                f"others have {self._rows.shape[1]}"
            )
        cosines = self._rows[: len(self._positions)] @ vector
        # A cosine of 1 comes out as 1 - 1e-16 about half the time.
        close = np.flatnonzero(cosines >= threshold - 1e-12)
        return self._positions[int(close[0])] if close.size else None

    def add(self, position: int, vector: NDArray[np.float64]) -> None:
        """Remember a kept vector."""
        if self._rows is None:
            self._rows = np.empty((self._room, vector.size))
        self._rows[len(self._positions)] = vector
        self._positions.append(position)


def _similar(
    own: frozenset[tuple[str, ...]],
    others: Sequence[frozenset[tuple[str, ...]]],
    threshold: float,
) -> int | None:
    for position, other in enumerate(others):
        if min(len(own), len(other)) < threshold * max(len(own), len(other)):
            continue
        shared = len(own & other)
        if shared and shared >= threshold * (len(own) + len(other) - shared):
            return position
    return None
