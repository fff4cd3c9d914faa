"""Edges: which nodes occur together, how strongly, and where.

Shard by shard, so that memory grows with the edges and not with the pairs that were seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from laya_index.graph.nodes import Occurrences

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Edges:
    """Undirected edges, `source < target`, in ascending order.

    `counts` are the chunks that have both nodes. The first few of these are the evidence of edge
    `i`: `evidence[offsets[i]:offsets[i + 1]]`, rows of all chunks, ascending. `weight` is the
    cosine of the two nodes over the chunks, counts / sqrt(chunks of one · chunks of the other), in
    (0, 1]: what occurs everywhere is close to nothing.
    """

    source: Ints
    target: Ints
    counts: Ints
    weight: NDArray[np.float64]
    offsets: Ints
    evidence: Ints


def edges_of(
    occurrences: Sequence[Occurrences], bases: Sequence[int], chunks: Ints, *, evidence: int
) -> Edges:
    """The edges between nodes that share a chunk.

    `bases` are the first row of each shard among all chunks, `chunks` the number of chunks that
    have each node, `evidence` the most rows to keep of an edge.
    """
    nodes = len(chunks)
    keys, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    seen_keys, seen_rows = keys, counts
    for shard, base in zip(occurrences, bases, strict=True):
        new_keys, new_rows = _pairs(shard, base, nodes)
        if not len(new_keys):
            continue
        keys, counts = _added(keys, counts, new_keys)
        joined = np.concatenate([seen_keys, new_keys])
        order = np.argsort(joined, kind="stable")  # older rows stay in front
        seen_keys = joined[order]
        seen_rows = np.concatenate([seen_rows, new_rows])[order]
        first = np.flatnonzero(np.diff(seen_keys, prepend=-1))
        length = np.diff(np.append(first, len(seen_keys)))
        early = np.arange(len(seen_keys)) - np.repeat(first, length) < evidence
        seen_keys, seen_rows = seen_keys[early], seen_rows[early]
    source, target = np.divmod(keys, max(1, nodes))
    together = chunks[source].astype(np.float64) * chunks[target].astype(np.float64)
    return Edges(
        source=source,
        target=target,
        counts=counts,
        weight=counts / np.sqrt(together),
        offsets=np.searchsorted(seen_keys, np.append(keys, np.iinfo(np.int64).max)),
        evidence=seen_rows,
    )


def _pairs(shard: Occurrences, base: int, nodes: int) -> tuple[Ints, Ints]:
    """Every two nodes of every row, as `smaller · nodes + larger`, sorted, and their rows."""
    keys: list[Ints] = []
    rows: list[Ints] = []
    # The occurrences of a row lie side by side: compare with those 1, 2, … places on.
    for step in range(1, len(shard.rows)):
        near = np.flatnonzero(shard.rows[:-step] == shard.rows[step:])
        if not len(near):
            break
        one, other = shard.nodes[near], shard.nodes[near + step]
        keys.append(np.minimum(one, other) * nodes + np.maximum(one, other))
        rows.append(shard.rows[near] + base)
    if not keys:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    flat, places = np.concatenate(keys), np.concatenate(rows)
    order = np.lexsort((places, flat))
    return flat[order], places[order]


def _added(keys: Ints, counts: Ints, new: Ints) -> tuple[Ints, Ints]:
    """Sorted keys with their counts, and `new` counted in."""
    found, repeats = np.unique(new, return_counts=True)
    joined = np.concatenate([keys, found])
    unique, place = np.unique(joined, return_inverse=True)
    total = np.zeros(len(unique), np.int64)
    np.add.at(total, place, np.concatenate([counts, repeats]))
    return unique, total
