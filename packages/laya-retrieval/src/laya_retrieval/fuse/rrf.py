"""Reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from laya_signals.component import Component, ComponentConfig
from pydantic import Field

from laya_retrieval.candidate import Candidate
from laya_retrieval.fuse.base import (
    LegContribution,
    assemble,
    checked_names,
    checked_weights,
    mean_tie_ranks,
    representatives,
)


class RrfConfig(ComponentConfig):
    """Settings of `fuser.rrf`."""

    #: Larger flattens the difference between places; 60 is the paper's, 5 suits two strong legs.
    k: float = Field(default=60.0, ge=0, allow_inf_nan=False)
    #: `order`: a place is a place. `mean`: equal neighbouring scores share the mean of theirs.
    ties: Literal["order", "mean"] = "order"
    #: Adds `metadata["fusion"]`, a tuple of `LegContribution`, to every result.
    explain: bool = False


class RrfFuser(Component[RrfConfig]):
    """The sum over legs of `weight / (k + rank)`, ranks from 1. Reads places, never scores.

    Scores are only looked at by `ties="mean"`, so that an arbitrary order among equals cannot
    outvote another leg. Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms
    Condorcet and individual Rank Learning Methods" (SIGIR 2009).

    >>> dense = [Candidate("a", 0.91), Candidate("b", 0.83)]
    >>> [c.id for c in RrfFuser(k=60).fuse([dense, [Candidate("b", 7.0)]])]
    ['b', 'a']
    """

    Config = RrfConfig

    def fuse(
        self,
        lists: Sequence[Sequence[Candidate]],
        *,
        weights: Sequence[float] | None = None,
        names: Sequence[str] | None = None,
    ) -> list[Candidate]:
        """Fuse ranked lists; see `Fuser.fuse` for the parameters and errors."""
        weighing = checked_weights(weights, len(lists))
        legs = checked_names(names, len(lists))
        k, mean_ties = self.config.k, self.config.ties == "mean"
        if not mean_ties and not self.config.explain:
            distinct = [[candidate.id for candidate in candidates] for candidates in lists]
            if all(len(set(ids)) == len(ids) for ids in distinct):
                return assemble(_sums(distinct, weighing, k), representatives(lists))
        scores: dict[str, float] = {}
        parts: dict[str, list[LegContribution]] = {}
        for leg, weight, candidates in zip(legs, weighing, lists, strict=True):
            ranks: Sequence[float] = (
                mean_tie_ranks(candidates) if mean_ties else range(1, len(candidates) + 1)
            )
            seen: set[str] = set()
            for rank, candidate in zip(ranks, candidates, strict=True):
                key = candidate.id
                if key in seen:
                    continue
                seen.add(key)
                share = weight / (k + rank)
                scores[key] = scores.get(key, 0.0) + share
                parts.setdefault(key, []).append(LegContribution(leg, rank, candidate.score, share))
        return assemble(scores, representatives(lists), parts if self.config.explain else None)


def _sums(lists: Sequence[Sequence[str]], weights: Sequence[float], k: float) -> dict[str, float]:
    """The same sums for the usual case: no id twice in a list, no ties, nothing to explain."""
    scores: dict[str, float] = {}
    for weight, ids in zip(weights, lists, strict=True):
        for key, rank in zip(ids, range(1, len(ids) + 1), strict=True):
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    return scores
