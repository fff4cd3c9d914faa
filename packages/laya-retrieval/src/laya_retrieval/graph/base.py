"""The seam of everything that knows who neighbours whom."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol, runtime_checkable

from laya_retrieval.errors import ExpandError

#: Further than this, distance says nothing any more.
MAX_HOPS = 64


@runtime_checkable
class GraphSource(Protocol):
    """An undirected graph of node ids."""

    def neighbors(self, seeds: Collection[str], max_hops: int) -> Mapping[str, int]:
        """Every node within `max_hops` of a seed, with its distance to the nearest seed.

        Seeds are left out; unknown seeds have no neighbours; no seeds give nothing. Raises
        `ExpandError` unless `max_hops` is in 1..64 and seeds are texts.
        """
        ...


def check_request(seeds: Collection[str], max_hops: int) -> None:
    """Raises `ExpandError` for what no source may accept."""
    if isinstance(max_hops, bool) or not isinstance(max_hops, int) or not 1 <= max_hops <= MAX_HOPS:
        raise ExpandError(f"max_hops must be in 1..{MAX_HOPS}, not {max_hops!r}")
    if isinstance(seeds, str):
        raise ExpandError(f"seeds are a collection of node ids, not the text {seeds!r}")
    for seed in seeds:
        if not isinstance(seed, str):
            raise ExpandError(f"a node id is a text, not {seed!r}")


def checked_neighbors(
    source: GraphSource, seeds: Collection[str], max_hops: int
) -> Mapping[str, int]:
    """What `source` answers; raises `ExpandError` when that breaks the seam's promise."""
    found = source.neighbors(seeds, max_hops)
    known = set(seeds)
    for node, hops in found.items():
        if node in known:
            raise ExpandError(f"{type(source).__name__} returned seed {node!r} as a neighbour")
        if isinstance(hops, bool) or not isinstance(hops, int) or not 1 <= hops <= max_hops:
            raise ExpandError(
                f"{type(source).__name__} put {node!r} {hops!r} hops away, not 1..{max_hops}"
            )
    return found


def breadth_first(
    seeds: Collection[str],
    max_hops: int,
    step: Callable[[list[str]], Iterable[str]],
) -> dict[str, int]:
    """The reference traversal: `step` gives all nodes next to a frontier.

    Each node enters a frontier once, so the work is bounded by the nodes and edges in reach, on a
    dense cyclic graph too.
    """
    seen = set(seeds)
    found: dict[str, int] = {}
    frontier = sorted(seen)
    for hops in range(1, max_hops + 1):
        if not frontier:
            break
        frontier = sorted(set(step(frontier)) - seen)
        seen.update(frontier)
        found.update(dict.fromkeys(frontier, hops))
    return found
