"""Late interaction: exact MaxSim over token vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from laya_signals.component import Component, ComponentConfig
from laya_signals.errors import ConfigError
from laya_signals.multivector.base import MultiVectorEncoder
from numpy.typing import NDArray

from laya_retrieval.candidate import Candidate, ranked
from laya_retrieval.errors import MaxSimError


class MaxSimConfig(ComponentConfig):
    """Settings of `processor.maxsim`."""

    #: Metadata key of a candidate's token vectors, `(tokens, d)`.
    vectors_key: str = "multivectors"


class MaxSimReranker(Component[MaxSimConfig]):
    """Replaces each score by MaxSim of the query's token vectors and the candidate's.

    `embedder=` turns the query into `(tokens, d)`; the candidates carry theirs. Raises
    `MaxSimError` for a candidate without token vectors, with none, with another dimension than the
    query's, or with values that are not finite: a score is never made up.
    """

    Config = MaxSimConfig

    def __init__(
        self,
        config: Mapping[str, Any] | MaxSimConfig | None = None,
        /,
        *,
        embedder: MultiVectorEncoder | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(config, **settings)
        if not isinstance(embedder, MultiVectorEncoder):
            raise ConfigError(
                "MaxSimReranker: give embedder= an object that encodes texts into token vectors"
            )
        self.embedder: MultiVectorEncoder = embedder

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates by MaxSim."""
        if not candidates:
            return []
        asked = _matrix(self.embedder.encode_query(query), "the query", None)
        return ranked(
            candidate.with_score(maxsim(asked, self._vectors(candidate, asked.shape[1])))
            for candidate in candidates
        )

    def _vectors(self, candidate: Candidate, dimension: int) -> NDArray[np.float64]:
        raw = candidate.metadata.get(self.config.vectors_key)
        if raw is None:
            raise MaxSimError(
                f"candidate {candidate.id!r} has no metadata[{self.config.vectors_key!r}]"
            )
        return _matrix(raw, f"candidate {candidate.id!r}", dimension)


def maxsim(query: NDArray[np.floating[Any]], document: NDArray[np.floating[Any]]) -> float:
    """`Σ over query tokens of max over document tokens of their dot product`, in float64.

    Shapes `(q, d)` and `(n, d)` with n at least 1. Source: Khattab and Zaharia, "ColBERT" (SIGIR
    2020).
    """
    products = query.astype(np.float64) @ document.astype(np.float64).T
    return float(products.max(axis=1).sum())


def _matrix(raw: Any, owner: str, dimension: int | None) -> NDArray[np.float64]:
    try:
        matrix = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MaxSimError(f"{owner}: token vectors of unequal length or no numbers") from error
    if matrix.ndim != 2 or matrix.shape[0] == 0 or matrix.shape[1] == 0:
        raise MaxSimError(f"{owner}: token vectors must be (tokens, d), not {matrix.shape}")
    if dimension is not None and matrix.shape[1] != dimension:
        raise MaxSimError(
            f"{owner}: token vectors have {matrix.shape[1]} dimensions, the query's {dimension}"
        )
    if not bool(np.all(np.isfinite(matrix))):
        raise MaxSimError(f"{owner}: token vectors hold a value that is not finite")
    return matrix
