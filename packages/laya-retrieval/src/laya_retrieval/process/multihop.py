"""Candidates a few hops from the best ones in a graph move up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from laya_signals.component import Component, ComponentConfig
from laya_signals.errors import ConfigError
from pydantic import Field

from laya_retrieval.candidate import Candidate, ranked
from laya_retrieval.graph.base import MAX_HOPS, GraphSource, checked_neighbors
from laya_retrieval.process.expand import node_ids


class MultiHopConfig(ComponentConfig):
    """Settings of `processor.multihop_expand`."""

    #: How many of the best candidates the expansion starts from.
    seed_top_k: int = Field(default=5, ge=1)
    #: Added to the score for each of a candidate's nodes one hop from a seed's node.
    hop_weight: float = Field(default=0.5, ge=0, allow_inf_nan=False)
    #: How far to go.
    max_hops: int = Field(default=2, ge=1, le=MAX_HOPS)
    #: What each further hop multiplies the weight by.
    hop_decay: float = Field(default=0.5, ge=0, le=1)
    #: Metadata key of a candidate's own nodes.
    node_key: str = "kg_node_ids"


class MultiHopExpander(Component[MultiHopConfig]):
    """Adds `hop_weight · hop_decay^(hops - 1)` for each of a candidate's nodes near a seed's node.

    Hops are the minimum distance to any seed node, so a node counts once however many ways lead
    to it; the seeds' own nodes count nothing. Only scores change: no candidate is fetched, so a
    filter that ran before still holds. Raises `ExpandError` when the graph source answers with
    anything but distances in 1..max_hops, or a node column is malformed.
    """

    Config = MultiHopConfig

    def __init__(
        self,
        config: Mapping[str, Any] | MultiHopConfig | None = None,
        /,
        *,
        graph_source: GraphSource | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(config, **settings)
        if not isinstance(graph_source, GraphSource):
            raise ConfigError(
                "MultiHopExpander: give graph_source= an object with neighbors(seeds, max_hops)"
            )
        self.graph_source: GraphSource = graph_source

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:  # noqa: ARG002
        """The same candidates, rescored; unchanged in every way when none has nodes."""
        config = self.config
        columns = [node_ids(candidate, config.node_key) for candidate in candidates]
        if all(column is None for column in columns):
            return list(candidates)
        own = {c.id: column or frozenset() for c, column in zip(candidates, columns, strict=True)}
        seeds = frozenset().union(*(own[c.id] for c in ranked(candidates)[: config.seed_top_k]))
        hops = checked_neighbors(self.graph_source, seeds, config.max_hops) if seeds else {}
        return ranked(
            candidate.with_score(
                candidate.score
                + sum(
                    config.hop_weight * config.hop_decay ** (hops[node] - 1)
                    for node in sorted(own[candidate.id])
                    if node in hops
                )
            )
            for candidate in candidates
        )
