"""The seam of every fuser, and the bookkeeping that all of them share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from laya_retrieval.candidate import Candidate, rescored
from laya_retrieval.errors import FusionError

#: The metadata key under which `explain=True` leaves the parts of a fused score.
FUSION_KEY = "fusion"


@runtime_checkable
class Fuser(Protocol):
    """Several ranked lists of candidates to one.

    Pure and deterministic: the result is ordered by descending fused score, ties by ascending id.
    Candidates are identified by their id alone; an id that occurs twice in one list counts once,
    at its best place; an id that a list lacks gets nothing from that list.
    """

    def fuse(
        self,
        lists: Sequence[Sequence[Candidate]],
        *,
        weights: Sequence[float] | None = None,
        names: Sequence[str] | None = None,
    ) -> list[Candidate]:
        """Fuse `lists`, best first in each; `weights` and `names` have one entry per list.

        Raises `FusionError` for a wrong number of weights or names, and for weights that are
        negative, not finite, or all zero.
        """
        ...


@dataclass(frozen=True, slots=True)
class LegContribution:
    """What one leg gave one fused candidate: its place, its own score, and its share."""

    leg: str
    #: Place in the leg, from 1; with `ties="mean"` it may be a half.
    rank: float
    #: The score that the leg had given.
    score: float
    #: What was added to the fused score.
    contribution: float


def checked_weights(weights: Sequence[float] | None, count: int) -> list[float]:
    """`weights` as floats, all 1.0 for None; raises `FusionError` when they cannot weigh."""
    if weights is None:
        return [1.0] * count
    values = [float(weight) for weight in weights]
    if len(values) != count:
        raise FusionError(f"{len(values)} weights for {count} lists: give one weight per list")
    for position, value in enumerate(values):
        if not math.isfinite(value) or value < 0:
            raise FusionError(f"weight {position} is {value!r}; weights are finite and at least 0")
    if values and not any(values):
        raise FusionError("all weights are 0, so nothing would be ranked")
    return values


def checked_names(names: Sequence[str] | None, count: int) -> list[str]:
    """`names`, or `leg1 … legN` for None; raises `FusionError` when they do not tell legs apart."""
    if names is None:
        return [f"leg{position}" for position in range(1, count + 1)]
    if len(names) != count:
        raise FusionError(f"{len(names)} names for {count} lists: give one name per list")
    if len(set(names)) != count:
        raise FusionError(f"leg names must differ from each other: {', '.join(names)}")
    return list(names)


def representatives(lists: Sequence[Sequence[Candidate]]) -> dict[str, Candidate]:
    """Per id the candidate whose text and metadata survive: the first with text, else the first."""
    chosen: dict[str, Candidate] = {}
    # Backwards, so that what comes first is written last and stays.
    for candidates in reversed(lists):
        chosen.update({candidate.id: candidate for candidate in reversed(candidates)})
    wanting = {key for key, candidate in chosen.items() if not candidate.text}
    if wanting:
        for candidates in lists:
            for candidate in candidates:
                if candidate.id in wanting and candidate.text:
                    chosen[candidate.id] = candidate
                    wanting.discard(candidate.id)
    return chosen


def first_places(candidates: Sequence[Candidate]) -> dict[str, Candidate]:
    """The candidates by id without repeats, each at its best (first) place, in list order."""
    places: dict[str, Candidate] = {}
    for candidate in candidates:
        places.setdefault(candidate.id, candidate)
    return places


def places_of(candidates: Sequence[Candidate]) -> dict[str, int]:
    """Id to its best place, from 1."""
    places: dict[str, int] = {}
    for place, candidate in enumerate(candidates, start=1):
        places.setdefault(candidate.id, place)
    return places


def mean_tie_ranks(candidates: Sequence[Candidate]) -> list[float]:
    """Places from 1, where neighbours of equal score share the mean of the places they take."""
    ranks: list[float] = []
    start = 0
    while start < len(candidates):
        stop = start + 1
        while stop < len(candidates) and candidates[stop].score == candidates[start].score:
            stop += 1
        ranks.extend([(start + 1 + stop) / 2] * (stop - start))
        start = stop
    return ranks


def assemble(
    scores: Mapping[str, float],
    chosen: Mapping[str, Candidate],
    parts: Mapping[str, Sequence[LegContribution]] | None = None,
) -> list[Candidate]:
    """Fused candidates in total order: copies of `chosen` with `scores`, explained by `parts`."""
    # Two stable sorts by a plain key are faster than one by pairs of score and id.
    order = sorted(scores)
    order.sort(key=scores.__getitem__, reverse=True)
    if parts is None:
        return rescored([chosen[key] for key in order], [scores[key] for key in order])
    return [
        Candidate(
            key,
            scores[key],
            chosen[key].text,
            {**chosen[key].metadata, FUSION_KEY: tuple(parts[key])},
        )
        for key in order
    ]
