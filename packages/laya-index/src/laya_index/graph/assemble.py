"""The reduce step: the graph of all shards, and what each chunk is told about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from laya_signals.component import fingerprint_of
from numpy.typing import NDArray

from laya_index.bundle.schema import EDGE_COLUMNS, node_columns
from laya_index.errors import SignalStageError
from laya_index.graph.adjacency import Adjacency
from laya_index.graph.communities import communities
from laya_index.graph.edges import Edges, edges_of
from laya_index.graph.entity import EntityExtractor
from laya_index.graph.features import GraphFeature
from laya_index.graph.headers import Headers
from laya_index.graph.nodes import Node, Occurrences, Shard, canonical_nodes


@dataclass(frozen=True, slots=True)
class GraphStage:
    """The components of a stack's `graph` block, and its limits.

    The first of `features` is the centrality that context headers hold.
    """

    extractor: EntityExtractor
    features: tuple[GraphFeature, ...]
    max_nodes: int
    max_neighbors: int
    max_evidence: int

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same documents may give another graph."""
        return fingerprint_of(
            [
                self.extractor.fingerprint,
                [feature.fingerprint for feature in self.features],
                [self.max_nodes, self.max_neighbors, self.max_evidence],
            ]
        )


@dataclass(frozen=True)
class Graph:
    """The nodes of a corpus, its edges, and where the nodes occur, shard by shard."""

    stage: GraphStage
    shards: Sequence[Shard]
    nodes: Sequence[Node]
    occurrences: Sequence[Occurrences]
    edges: Edges

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the nodes, ascending."""
        return [node.id for node in self.nodes]

    @cached_property
    def adjacency(self) -> Adjacency:
        """The edges from both of their ends."""
        edges = self.edges
        return Adjacency.of(len(self.nodes), edges.source, edges.target, edges.weight)

    @cached_property
    def features(self) -> dict[str, NDArray[np.float64]]:
        """What each feature gives each node; raises `SignalStageError` for what is no share."""
        found = {}
        for feature in self.stage.features:
            values = np.asarray(feature.compute(self.adjacency), np.float64)
            if values.shape != (len(self.nodes),) or not np.all((values > 0) & (values <= 1)):
                raise SignalStageError(
                    f"graph: {feature.name} must give each of {len(self.nodes)} nodes one number "
                    "in (0, 1]"
                )
            found[feature.name] = values
        return found

    @property
    def centrality(self) -> NDArray[np.float64]:
        """The first feature's."""
        return self.features[self.stage.features[0].name]

    @cached_property
    def community(self) -> NDArray[np.int32]:
        """The number of each node's community."""
        return communities(self.adjacency)

    def node_table(self) -> pa.Table:
        """The rows of the node file, by ascending id."""
        nodes = self.nodes
        columns = [
            self.ids,
            [node.type for node in nodes],
            [node.name() for node in nodes],
            [node.confidence for node in nodes],
            [node.mentions() for node in nodes],
            [node.spellings.total() for node in nodes],
            [node.chunks for node in nodes],
            [node.documents for node in nodes],
            [node.document_count for node in nodes],
            self.centrality,
            self.community,
            *self.features.values(),
        ]
        return pa.table(columns, schema=node_columns(list(self.features)))

    def edge_table(self) -> pa.Table:
        """The rows of the edge file, by ascending ids."""
        edges = self.edges
        ids = pa.array(self.ids, pa.string())
        records = pa.chunked_array([shard.record_ids for shard in self.shards], pa.string())
        evidence = pa.ListArray.from_arrays(
            pa.array(edges.offsets, pa.int32()),
            records.take(pa.array(edges.evidence)).combine_chunks(),
            type=EDGE_COLUMNS.field("evidence").type,
        )
        columns = [
            ids.take(pa.array(edges.source)),
            ids.take(pa.array(edges.target)),
            edges.weight,
            evidence,
            edges.counts,
        ]
        return pa.table(columns, schema=EDGE_COLUMNS)

    @cached_property
    def _headers(self) -> Headers:
        return Headers(
            self.ids,
            self.adjacency,
            self.centrality,
            self.community,
            own=self.stage.max_nodes,
            neighbors=self.stage.max_neighbors,
        )

    def header(self, shard: int) -> pa.Array:
        """The `context_header` column of the shard at this place."""
        return self._headers.column(self.occurrences[shard], len(self.shards[shard].record_ids))


def assemble(stage: GraphStage, shards: Sequence[Shard]) -> Graph:
    """Put the graph together from the mentions of all shards, in the order of their rows.

    Raises `BundleError` when a table of mentions cannot be read.
    """
    nodes, occurrences = canonical_nodes(shards, most=stage.max_nodes, documents=stage.max_evidence)
    bases = np.cumsum([0, *(len(shard.record_ids) for shard in shards)])[:-1].tolist()
    chunks = np.array([node.chunks for node in nodes], np.int64)
    edges = edges_of(occurrences, bases, chunks, evidence=stage.max_evidence)
    return Graph(stage, shards, nodes, occurrences, edges)
