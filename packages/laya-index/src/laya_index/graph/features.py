"""How central each node is."""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

import numpy as np
import rustworkx
from laya_signals import Component, ComponentConfig
from numpy.typing import NDArray
from pydantic import Field

from laya_index.graph.adjacency import Adjacency


@runtime_checkable
class GraphFeature(Protocol):
    """A graph to one number in (0, 1] per node, the same for the same graph."""

    @property
    def name(self) -> str:
        """What its column in the node file is called."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hex digits that change whenever the same graph may give other numbers."""
        ...

    def compute(self, graph: Adjacency) -> NDArray[np.float64]:
        """One number per node, `(nodes,)`."""
        ...


class Degree(Component[ComponentConfig]):
    """(neighbours + 1) / (most neighbours + 1): the share of the best connected node's circle."""

    Config = ComponentConfig
    name = "degree"

    def compute(self, graph: Adjacency) -> NDArray[np.float64]:
        """See `GraphFeature.compute`."""
        near = graph.degrees + 1.0
        share: NDArray[np.float64] = near / near.max(initial=1.0)
        return share


class PageRankConfig(ComponentConfig):
    """Settings of `graph_features.pagerank`; `alpha` is the chance to walk on along an edge."""

    alpha: float = Field(default=0.85, gt=0, lt=1)


# The sum of the absolute differences to the true ranks, whose sum is 1.
_TOLERANCE = 1e-9


class PageRank(Component[PageRankConfig]):
    """PageRank over the weighted edges in both directions, divided by the largest.

    Source: Page et al., "The PageRank citation ranking" (1999). rustworkx iterates; nodes and edges
    go in by ascending id, so that it adds the same numbers in the same order.
    """

    Config = PageRankConfig
    name = "pagerank"

    def compute(self, graph: Adjacency) -> NDArray[np.float64]:
        """See `GraphFeature.compute`."""
        if graph.nodes == 0:
            return np.empty(0)
        alpha = self.config.alpha
        walks = rustworkx.PyDiGraph(multigraph=False)
        walks.add_nodes_from(range(graph.nodes))
        ends = np.repeat(np.arange(graph.nodes), graph.degrees).tolist()
        walks.add_edges_from(
            list(zip(ends, graph.near.tolist(), graph.weight.tolist(), strict=True))
        )
        ranks = rustworkx.pagerank(
            walks,
            alpha=alpha,
            weight_fn=float,
            tol=_TOLERANCE / graph.nodes,  # rustworkx multiplies it by the number of nodes
            # The error shrinks by alpha each time, from 2 at most.
            max_iter=math.ceil(math.log(_TOLERANCE / 2) / math.log(alpha)) + 10,
        )
        found = np.array([ranks[node] for node in range(graph.nodes)])
        share: NDArray[np.float64] = found / found.max()
        return share
