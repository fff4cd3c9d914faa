"""Candidates next to the best ones in the graph move up, read from metadata alone."""

from __future__ import annotations

from collections.abc import Sequence

from laya_signals.component import Component, ComponentConfig
from pydantic import Field

from laya_retrieval.candidate import Candidate, ranked
from laya_retrieval.errors import ExpandError
from laya_retrieval.filters import lookup

#: Where a chunk's graph columns lie when they are not at the top of its metadata.
_HEADER = "context_header"


class ExpandConfig(ComponentConfig):
    """Settings of `processor.expand`."""

    #: How many of the best candidates the expansion starts from.
    seed_top_k: int = Field(default=5, ge=1)
    #: Added to the score for each of a candidate's nodes that neighbours a seed.
    hop_weight: float = Field(default=0.5, ge=0, allow_inf_nan=False)
    #: Metadata key of a candidate's own nodes.
    node_key: str = "kg_node_ids"
    #: Metadata key of the nodes next to them.
    neighbor_key: str = "neighbor_node_ids"


class Expander(Component[ExpandConfig]):
    """Adds `hop_weight` for each of a candidate's nodes that neighbours a seed's node.

    Seeds are the `seed_top_k` best by score; a seed's own nodes are not their own neighbours. The
    columns are read from the metadata or from its `context_header`. When no candidate has them,
    nothing changes, the order included. Raises `ExpandError` for a column that is no list of
    texts.
    """

    Config = ExpandConfig

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:  # noqa: ARG002
        """The same candidates, rescored."""
        config = self.config
        nodes = [node_ids(candidate, config.node_key) for candidate in candidates]
        neighbors = [node_ids(candidate, config.neighbor_key) for candidate in candidates]
        if all(column is None for column in (*nodes, *neighbors)):
            return list(candidates)
        own = {c.id: column or frozenset() for c, column in zip(candidates, nodes, strict=True)}
        near = {
            c.id: column or frozenset() for c, column in zip(candidates, neighbors, strict=True)
        }
        seeds = [candidate.id for candidate in ranked(candidates)[: config.seed_top_k]]
        reached = frozenset().union(*(near[s] for s in seeds)) - frozenset().union(
            *(own[s] for s in seeds)
        )
        return ranked(
            candidate.with_score(
                candidate.score + config.hop_weight * len(own[candidate.id] & reached)
            )
            for candidate in candidates
        )


def node_ids(candidate: Candidate, key: str) -> frozenset[str] | None:
    """A candidate's node ids, None when it has no such column.

    Raises `ExpandError` for a column that is no list of texts.
    """
    raw = lookup(candidate.metadata, key)
    if raw is None:
        raw = lookup(candidate.metadata, f"{_HEADER}.{key}")
    if raw is None:
        return None
    if isinstance(raw, str) or not hasattr(raw, "__iter__"):
        raise ExpandError(f"candidate {candidate.id!r}: {key} must be a list of node ids")
    ids = list(raw)
    for value in ids:
        if not isinstance(value, str):
            raise ExpandError(f"candidate {candidate.id!r}: {key} holds {value!r}, not a node id")
    return frozenset(ids)
