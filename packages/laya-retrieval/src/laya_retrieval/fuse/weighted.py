"""Weighted sum of normalised scores, also known as convex combination."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from laya_signals.component import Component, ComponentConfig
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


class WeightedConfig(ComponentConfig):
    """Settings of `fuser.weighted`."""

    #: How each list's scores become comparable; see the functions of this module.
    normalize: Literal["minmax", "zscore", "theoretical"] = "minmax"
    #: Leg name to the lowest score the leg can give; needed by `theoretical` for every leg.
    floors: Mapping[str, float] = Field(default={"bm25": 0.0, "dense": -1.0, "sparse": 0.0})
    #: Adds `metadata["fusion"]`, a tuple of `LegContribution`, to every result.
    explain: bool = False

    @model_validator(mode="after")
    def _floors_are_finite(self) -> WeightedConfig:
        for leg, floor in self.floors.items():
            if not math.isfinite(floor):
                raise ValueError(f"the floor of leg {leg!r} is not finite")
        return self


class WeightedFuser(Component[WeightedConfig]):
    """The sum over legs of `weight · normalised score`.

    `theoretical` needs `names`, one of `floors` each; `dense:<name>` falls back on the floor of
    `dense`. Source: Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval"
    (TOIS 2023).
    """

    Config = WeightedConfig

    def fuse(
        self,
        lists: Sequence[Sequence[Candidate]],
        *,
        weights: Sequence[float] | None = None,
        names: Sequence[str] | None = None,
    ) -> list[Candidate]:
        """Fuse scored lists; see `Fuser.fuse` for the parameters and errors.

        Raises `FusionError` too when `theoretical` lacks a leg's floor, or a score lies below it.
        """
        weighing = checked_weights(weights, len(lists))
        legs = checked_names(names, len(lists))
        scores: dict[str, float] = {}
        parts: dict[str, list[LegContribution]] | None = {} if self.config.explain else None
        for leg, weight, candidates in zip(legs, weighing, lists, strict=True):
            places = first_places(candidates)
            raw = [candidate.score for candidate in places.values()]
            normalised = self._normalised(leg, raw)
            for key, value in zip(places, normalised, strict=True):
                scores[key] = scores.get(key, 0.0) + weight * value
            if parts is not None:
                ranks = places_of(candidates)
                for key, value in zip(places, normalised, strict=True):
                    parts.setdefault(key, []).append(
                        LegContribution(leg, ranks[key], places[key].score, weight * value)
                    )
        return assemble(scores, representatives(lists), parts)

    def _normalised(self, leg: str, scores: Sequence[float]) -> list[float]:
        if self.config.normalize == "minmax":
            return minmax(scores)
        if self.config.normalize == "zscore":
            return zscore(scores)
        floors = self.config.floors
        floor = floors.get(leg, floors.get(leg.partition(":")[0]))
        if floor is None:
            raise FusionError(
                f"theoretical normalisation needs the lowest possible score of leg {leg!r}: "
                f"floors has {', '.join(sorted(floors)) or 'none'}"
            )
        return theoretical(scores, floor, leg=leg)


def minmax(scores: Sequence[float]) -> list[float]:
    """`(s - min) / (max - min)`, in 0..1; all 1.0 when every score is the same."""
    if not scores:
        return []
    low, high = min(scores), max(scores)
    if high == low:
        return [1.0] * len(scores)
    # Halving first keeps the span of two huge scores of opposite sign finite.
    span = high / 2 - low / 2
    return [(score / 2 - low / 2) / span for score in scores]


def zscore(scores: Sequence[float]) -> list[float]:
    """`(s - mean) / standard deviation` (of the list itself); all 0.0 when every score is the same.

    A score below its list's mean comes out negative and counts against its candidate: less than
    being absent would.
    """
    if not scores:
        return []
    scale = max(abs(score) for score in scores) or 1.0
    scaled = [score / scale for score in scores]
    mean = math.fsum(scaled) / len(scaled)
    spread = math.sqrt(math.fsum((score - mean) ** 2 for score in scaled) / len(scaled))
    if spread == 0 or min(scores) == max(scores):
        return [0.0] * len(scores)
    return [(score - mean) / spread for score in scaled]


def theoretical(scores: Sequence[float], floor: float, *, leg: str = "leg") -> list[float]:
    """`(s - floor) / (max - floor)`, in 0..1, with the lowest score that the leg can ever give.

    Keeps how far above "nothing in common" a list is, which min-max forgets. A list that lies on
    its floor is all 0.0. Raises `FusionError` for a score below the floor.
    """
    if not scores:
        return []
    low, high = min(scores), max(scores)
    if low < floor:
        raise FusionError(f"leg {leg!r} has a score of {low!r}, below its floor {floor!r}")
    if high == floor:
        return [0.0] * len(scores)
    return [(score - floor) / (high - floor) for score in scores]
