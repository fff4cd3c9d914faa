"""A graph from a list of edges that remembers what it was asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from laya_retrieval.graph.memory import MemoryGraphSource


class FakeGraphSource(MemoryGraphSource):
    """An undirected graph; refuses what every source refuses. `calls` holds every request.

    >>> FakeGraphSource([("n1", "n2"), ("n2", "n3"), ("n3", "n4")]).neighbors(["n1"], 2)
    {'n2': 1, 'n3': 2}
    """

    def __init__(self, edges: Iterable[tuple[str, str]]) -> None:
        super().__init__(edges)
        self.calls: list[tuple[frozenset[str], int]] = []

    def neighbors(self, seeds: Collection[str], max_hops: int) -> dict[str, int]:
        """See `GraphSource.neighbors`."""
        found = super().neighbors(seeds, max_hops)
        self.calls.append((frozenset(seeds), max_hops))
        return found
