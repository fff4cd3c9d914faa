"""A graph held in a dictionary."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from laya_retrieval.errors import ExpandError
from laya_retrieval.graph.base import breadth_first, check_request


class MemoryGraphSource:
    """An undirected graph from pairs of node ids; self-loops and repeats change nothing.

    Raises `ExpandError` for an edge that is not two texts.
    """

    def __init__(self, edges: Iterable[tuple[str, str]]) -> None:
        self._near: dict[str, set[str]] = {}
        for edge in edges:
            if len(edge) != 2 or not all(isinstance(node, str) for node in edge):
                raise ExpandError(f"an edge is two node ids, not {edge!r}")
            source, target = edge
            self._near.setdefault(source, set()).add(target)
            self._near.setdefault(target, set()).add(source)

    def neighbors(self, seeds: Collection[str], max_hops: int) -> dict[str, int]:
        """See `GraphSource.neighbors`."""
        check_request(seeds, max_hops)
        return breadth_first(
            seeds,
            max_hops,
            lambda frontier: (near for node in frontier for near in self._near.get(node, ())),
        )
