"""Reranking by a cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import Field

from laya_retrieval.candidate import Candidate, ranked, rescored
from laya_retrieval.cross_encoder import CrossEncoderComponent, CrossEncoderConfig, PairScorer
from laya_retrieval.errors import RerankError
from laya_retrieval.fuse.base import mean_tie_ranks


class RerankConfig(CrossEncoderConfig):
    """Settings of `processor.rerank`."""

    #: 1.0 replaces the incoming score; below it, the two orders are fused, 0.0 keeping the old one.
    blend: float = Field(default=1.0, ge=0, le=1)
    #: The k of the reciprocal ranks that `blend` mixes.
    k: float = Field(default=60.0, ge=0, allow_inf_nan=False)


class Reranker(CrossEncoderComponent[RerankConfig]):
    """Scores every candidate's text against the query with a cross-encoder.

    `model=` takes an object with `predict(pairs)`; else the settings name a model, loaded with
    sentence-transformers (extra `rerank`) when first needed. With `blend` below 1 the result's
    score is `blend / (k + model rank) + (1 - blend) / (k + incoming rank)`.

    Raises `RerankError` when the model returns another number of scores than it was given pairs,
    or one that is not finite: NaN would otherwise sort anywhere.
    """

    Config = RerankConfig

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates by the model's score, or by the blend of both orders."""
        if not candidates:
            return []
        scores = predicted(
            self.model, [(query, candidate.text) for candidate in candidates], candidates
        )
        by_model = ranked(rescored(candidates, scores.tolist()))
        blend, k = self.config.blend, self.config.k
        if blend == 1:
            return by_model
        ranks = dict(zip((c.id for c in by_model), mean_tie_ranks(by_model), strict=True))
        return ranked(
            candidate.with_score(blend / (k + ranks[candidate.id]) + (1 - blend) / (k + place))
            for place, candidate in enumerate(candidates, start=1)
        )


def predicted(
    model: PairScorer, pairs: Sequence[tuple[str, str]], candidates: Sequence[Candidate]
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """One finite score per pair, `(n,)` float64; raises `RerankError` naming the candidate."""
    try:
        scores = np.asarray(model.predict(list(pairs)), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise RerankError(f"{type(model).__name__} returned no numbers: {error}") from error
    if scores.shape == (len(pairs), 1):
        scores = scores[:, 0]
    if scores.shape != (len(pairs),):
        raise RerankError(
            f"{type(model).__name__} returned shape {scores.shape} for {len(pairs)} pairs: "
            "a reranker gives one score per pair"
        )
    finite = np.isfinite(scores)
    if not bool(finite.all()):
        bad = candidates[int(np.argmin(finite))].id
        raise RerankError(f"{type(model).__name__} scored candidate {bad!r} as not finite")
    return scores
