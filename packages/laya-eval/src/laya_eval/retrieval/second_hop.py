"""What becomes of the relevant documents that a first look at the question does not find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from laya_eval.beir import Qrels
from laya_eval.retrieval.checkpoint import Retrieved
from laya_eval.retrieval.pool import best_places

#: Documents of each leg that the first hop looks at.
HOP = 10


@dataclass(frozen=True, slots=True)
class SecondHop:
    """Shares of the second-hop documents, each the mean over `queries`; see `second_hop`."""

    hop: int
    #: The queries that have a second-hop document.
    queries: tuple[str, ...]
    #: How many second-hop documents they have together.
    documents: int
    #: In the whole pool: everything that the legs found for the question.
    pool: float
    #: Among the first `hop` documents of the legs of the second search; None where none was made.
    searched_again: float | None
    #: The control of that: the question's own legs, looked at as deep as costs the same.
    looked_deeper: float | None
    #: System to the share in its ranking, as far as it goes, and in its first `hop`.
    rankings: Mapping[str, float]
    tops: Mapping[str, float]


def second_hop(
    found: Mapping[str, Retrieved],
    qrels: Qrels,
    queries: Sequence[str],
    *,
    hop: int = HOP,
) -> SecondHop | None:
    """Second-hop retention: how many of the documents that the first hop misses are still there.

    Only queries with several relevant documents count. Their second-hop documents are the relevant
    ones that no leg has among its first `hop` for the question itself. For each stage the share of
    them that it holds is averaged over the queries that have any; None when no query has.

    With p further searches for names that the first one found, the second search is compared with
    the first `hop · (1 + p)` documents of the question's own legs, which are as many to look at.

    Hops are not labelled in most data. What the question alone does not find stands for the second
    one, after Qi et al., Answering Complex Open-domain Questions Through Iterative Query Generation
    (EMNLP 2019), who search again for what the first documents name.
    """
    missed: dict[str, list[str]] = {}
    for query in queries:
        relevant = [document for document, grade in qrels[query].items() if grade > 0]
        near = best_places(found[query].places)
        beyond = [document for document in relevant if near.get(document, hop + 1) > hop]
        if len(relevant) > 1 and beyond:
            missed[query] = beyond
    if not missed:
        return None

    def share(
        held: Mapping[str, Mapping[str, int]], deep: Mapping[str, int] | None = None
    ) -> float:
        """The mean share whose place is at most as deep as allowed for the query."""
        return float(
            np.mean(
                [
                    np.mean([0 < held[query].get(d, 0) <= _limit(deep, query) for d in documents])
                    for query, documents in missed.items()
                ]
            )
        )

    first = {query: best_places(found[query].places) for query in missed}
    probed = {query: best_places(found[query].probed) for query in missed}
    rankings: dict[str, dict[str, dict[str, int]]] = {}
    for query in missed:
        for system, documents in found[query].rankings.items():
            places = {document: place for place, document in enumerate(documents, start=1)}
            rankings.setdefault(system, {})[query] = places
    again = any(found[query].probed for query in queries)
    flat = dict.fromkeys(missed, hop)
    deeper = {query: hop * (1 + len(found[query].probed)) for query in missed}
    return SecondHop(
        hop=hop,
        queries=tuple(missed),
        documents=sum(map(len, missed.values())),
        pool=share(first),
        searched_again=share(probed, flat) if again else None,
        looked_deeper=share(first, deeper) if again else None,
        rankings={system: share(places) for system, places in rankings.items()},
        tops={system: share(places, flat) for system, places in rankings.items()},
    )


def _limit(deep: Mapping[str, int] | None, query: str) -> float:
    return float("inf") if deep is None else deep[query]
