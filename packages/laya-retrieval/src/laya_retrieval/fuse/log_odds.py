"""Fusion of probabilities in log-odds space."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from laya_signals.component import Component, ComponentConfig
from numpy.typing import ArrayLike
from pydantic import Field, model_validator

from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import FusionError
from laya_retrieval.fuse.base import (
    LegContribution,
    assemble,
    checked_names,
    checked_weights,
    first_places,
    places_of,
    representatives,
)
from laya_retrieval.logistic import fit_logistic

#: Log-odds beyond this are indistinguishable from certainty in a probability of double precision.
_CERTAIN = 30.0


class Sigmoid(ComponentConfig):
    """How likely a score is a hit: `1 / (1 + exp(-slope (score - midpoint)))`."""

    slope: float = Field(gt=0, allow_inf_nan=False)
    midpoint: float = Field(allow_inf_nan=False)

    def log_odds(self, score: float) -> float:
        """`slope · (score - midpoint)`: 0 is undecided, in natural-log units."""
        return self.slope * (score - self.midpoint)

    @classmethod
    def fit(cls, scores: ArrayLike, relevant: ArrayLike, *, l2: float = 1e-3) -> Sigmoid:
        """The sigmoid that makes labelled scores most likely (Platt scaling).

        `scores` and `relevant` are `(n,)`, the second of 0 and 1. `l2` shrinks the slope (of
        standardised scores) a little, so that separable labels have an optimum. Raises
        `FusionError` when one class is missing, or higher scores are not likelier hits.
        """
        try:
            fitted = fit_logistic(np.asarray(scores, dtype=np.float64)[:, None], relevant, l2=l2)
        except (ValueError, IndexError) as error:
            raise FusionError(f"no sigmoid can be fitted: {error}") from error
        slope = float(fitted.weights[0] / fitted.scale[0])
        if slope <= 0:
            raise FusionError("higher scores are not likelier hits here, so no sigmoid fits")
        return cls(slope=slope, midpoint=float(fitted.mean[0]) - fitted.intercept / slope)


class LogOddsConfig(ComponentConfig):
    """Settings of `fuser.log_odds`."""

    #: Leg name to its fitted sigmoid; a leg without one is estimated from the list itself.
    sigmoids: Mapping[str, Sigmoid] = Field(default_factory=dict)
    #: Probability that a candidate is a hit before any leg has spoken.
    base_rate: float = Field(default=0.5, gt=0, lt=1)
    #: Adds `metadata["fusion"]`, a tuple of `LegContribution`, to every result.
    explain: bool = False

    @model_validator(mode="after")
    def _legs_have_names(self) -> LogOddsConfig:
        if "" in self.sigmoids:
            raise ValueError("a sigmoid belongs to a leg with a name")
        return self


class LogOddsFuser(Component[LogOddsConfig]):
    """`sigmoid(logit(base rate) + sum over legs of weight · log-odds(score))`, a probability.

    With fitted sigmoids the fused score means the same for every query, so that a threshold on it
    means something; a score below a leg's midpoint is evidence against its candidate. A leg
    without a fitted sigmoid is estimated from its list: midpoint at its lowest score, one unit of
    log-odds per standard deviation. There every score is evidence in favour, so that being absent
    is never better than being found. A candidate absent from a leg gets no evidence from it.

    Log-odds beyond ±30 share one probability and tie.
    Source: Robertson, "The Probability Ranking Principle in IR" (1977), for adding independent
    evidence as log-odds; Platt (1999) for the sigmoid.
    """

    Config = LogOddsConfig

    def fuse(
        self,
        lists: Sequence[Sequence[Candidate]],
        *,
        weights: Sequence[float] | None = None,
        names: Sequence[str] | None = None,
    ) -> list[Candidate]:
        """Fuse scored lists into probabilities in 0..1; see `Fuser.fuse`.

        A `LegContribution.contribution` is in log-odds here.
        """
        weighing = checked_weights(weights, len(lists))
        legs = checked_names(names, len(lists))
        base = math.log(self.config.base_rate / (1 - self.config.base_rate))
        odds: dict[str, float] = {}
        parts: dict[str, list[LegContribution]] | None = {} if self.config.explain else None
        for leg, weight, candidates in zip(legs, weighing, lists, strict=True):
            places = first_places(candidates)
            sigmoid = self.config.sigmoids.get(leg) or estimated(
                [candidate.score for candidate in places.values()]
            )
            ranks = places_of(candidates)
            for key, candidate in places.items():
                evidence = weight * sigmoid.log_odds(candidate.score)
                odds[key] = odds.get(key, base) + evidence
                if parts is not None:
                    parts.setdefault(key, []).append(
                        LegContribution(leg, ranks[key], candidate.score, evidence)
                    )
        scores = {key: _probability(value) for key, value in odds.items()}
        return assemble(scores, representatives(lists), parts)


def estimated(scores: Sequence[float]) -> Sigmoid:
    """A sigmoid from a list alone: midpoint at its lowest score, slope 1 / standard deviation.

    Equal scores carry no information about each other: all of them are undecided.
    """
    if not scores:
        return Sigmoid(slope=1.0, midpoint=0.0)
    low, high = min(scores), max(scores)
    spread = float(np.std(np.asarray(scores, dtype=np.float64))) if high > low else 0.0
    if not math.isfinite(spread) or spread < 1e-300:
        spread = 1.0
    return Sigmoid(slope=1 / spread, midpoint=low)


def _probability(log_odds: float) -> float:
    clipped = min(max(log_odds, -_CERTAIN), _CERTAIN)
    return 1 / (1 + math.exp(-clipped))
