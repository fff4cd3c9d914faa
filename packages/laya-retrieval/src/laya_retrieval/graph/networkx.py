"""A networkx graph (extra `networkx`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from laya_retrieval.errors import ExpandError
from laya_retrieval.graph.base import breadth_first, check_request

if TYPE_CHECKING:
    import networkx  # type: ignore[import-untyped,import-not-found,unused-ignore]


class NetworkxGraphSource:
    """Reads any networkx graph with text nodes; a directed one is read in both directions.

    The graph is not copied: it must not change during a call. Raises `ExpandError` for an object
    that is no networkx graph.
    """

    def __init__(self, graph: networkx.Graph) -> None:
        if not hasattr(graph, "adj") or not hasattr(graph, "is_directed"):
            raise ExpandError(f"{type(graph).__name__} is no networkx graph")
        self._graph: Any = graph

    def neighbors(self, seeds: Collection[str], max_hops: int) -> dict[str, int]:
        """See `GraphSource.neighbors`."""
        check_request(seeds, max_hops)
        return breadth_first(seeds, max_hops, self._step)

    def _step(self, frontier: list[str]) -> Iterator[str]:
        directed = self._graph.is_directed()
        for node in frontier:
            if node in self._graph:
                yield from self._graph.adj[node]
                if directed:
                    yield from self._graph.pred[node]
