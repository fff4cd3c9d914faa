"""What the legs found together: how much a better order, or a better search, could still gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from laya_eval.beir import Qrels

#: Depths that are looked at, as far as the search went.
DEPTHS = (5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, slots=True)
class PoolDepth:
    """The pool of the first `depth` documents of every leg, averaged over queries."""

    depth: int
    #: The share of a query's relevant documents that are in the pool.
    recall: float
    #: The MAP@100 that the best order of the pool would have.
    best_map: float


def pool_by_depth(
    places: Mapping[str, Mapping[str, Mapping[str, int]]],
    qrels: Qrels,
    queries: Sequence[str],
    *,
    deepest: int,
) -> list[PoolDepth]:
    """Recall and best MAP of the legs' pool, for each of `DEPTHS` up to `deepest`.

    `places` is query to leg to relevant document to its place, from 1. The best order puts what
    was found first, so that its average precision is the number found (100 at most) divided by
    the number of relevant documents that there are, found or not.
    """
    depths = [depth for depth in DEPTHS if depth < deepest] + [deepest]
    found = {query: best_places(places.get(query, {})) for query in queries}
    result: list[PoolDepth] = []
    for depth in depths:
        recall: list[float] = []
        best: list[float] = []
        for query in queries:
            gold = sum(grade > 0 for grade in qrels[query].values())
            hits = sum(place <= depth for place in found[query].values())
            recall.append(hits / gold)
            best.append(min(hits, 100) / gold)
        result.append(PoolDepth(depth, float(np.mean(recall)), float(np.mean(best))))
    return result


def best_places(legs: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Each document's best place in any leg."""
    best: dict[str, int] = {}
    for documents in legs.values():
        for document, place in documents.items():
            best[document] = min(place, best.get(document, place))
    return best
