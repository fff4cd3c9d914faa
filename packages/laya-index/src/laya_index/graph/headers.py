"""The context header of each chunk: its nodes, and what is next to them in the graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from laya_index.bundle.schema import CONTEXT_HEADER
from laya_index.graph.adjacency import Adjacency
from laya_index.graph.nodes import Occurrences

Ints = NDArray[np.int64]

# Chunks whose neighbours are looked up together: bounds memory.
_BLOCK_ROWS = 1024


class Headers:
    """What headers are written from.

    `neighbors` is the most neighbours a header names: those with the strongest edge to one of the
    chunk's own nodes, equally strong ones by ascending id. `own` is the most nodes a chunk has.
    """

    def __init__(
        self,
        ids: Sequence[str],
        graph: Adjacency,
        centrality: NDArray[np.float64],
        community: NDArray[np.int32],
        *,
        own: int,
        neighbors: int,
    ) -> None:
        self._ids = pa.array(ids, pa.string())
        self._centrality = pa.array(centrality.astype(np.float32))
        self._community = pa.array(community)
        self._most = neighbors
        ends = np.repeat(np.arange(graph.nodes), graph.degrees)
        order = np.lexsort((graph.near, -graph.weight, ends))
        self._near, self._weight = graph.near[order], graph.weight[order]
        self._first = graph.offsets[:-1]
        # Of the strongest edges of a node, at most `own` lead to nodes that are no neighbours
        # because the chunk has them too.
        self._length = np.minimum(graph.degrees, neighbors + own)

    def column(self, shard: Occurrences, chunks: int) -> pa.Array:
        """The headers of a shard's `chunks`, one struct each, without nodes one of empty lists."""
        bounds = np.searchsorted(shard.rows, np.arange(chunks + 1))
        rows, near = self._neighbors(shard)
        near_bounds = np.searchsorted(rows, np.arange(chunks + 1))
        own = pa.array(shard.nodes)
        lists = {
            "kg_node_ids": (bounds, self._ids.take(own)),
            "neighbor_node_ids": (near_bounds, self._ids.take(pa.array(near))),
            "kg_node_centrality": (bounds, self._centrality.take(own)),
            "kg_node_community": (bounds, self._community.take(own)),
        }
        return pa.StructArray.from_arrays(
            [
                pa.ListArray.from_arrays(
                    pa.array(lists[field.name][0], pa.int32()),
                    lists[field.name][1],
                    type=field.type,
                )
                for field in CONTEXT_HEADER
            ],
            fields=list(CONTEXT_HEADER),
        )

    def _neighbors(self, shard: Occurrences) -> tuple[Ints, Ints]:
        """Rows, ascending, and the neighbours of each, the strongest first."""
        rows: list[Ints] = [np.empty(0, np.int64)]
        near: list[Ints] = [np.empty(0, np.int64)]
        last = int(shard.rows[-1]) + 1 if len(shard.rows) else 0
        for start in range(0, last, _BLOCK_ROWS):
            low, high = np.searchsorted(shard.rows, [start, start + _BLOCK_ROWS])
            block = self._strongest(shard.rows[low:high], shard.nodes[low:high])
            rows.append(block[0])
            near.append(block[1])
        return np.concatenate(rows), np.concatenate(near)

    def _strongest(self, rows: Ints, nodes: Ints) -> tuple[Ints, Ints]:
        length = self._length[nodes]
        begin = np.repeat(self._first[nodes] - (np.cumsum(length) - length), length)
        edge = begin + np.arange(len(begin))
        near, weight, row = self._near[edge], self._weight[edge], np.repeat(rows, length)
        # One number for a node in a row.
        width = len(self._ids)
        other = ~np.isin(row * width + near, rows * width + nodes)
        near, weight, row = near[other], weight[other], row[other]
        order = np.lexsort((-weight, near, row))
        near, weight, row = near[order], weight[order], row[order]
        best = np.flatnonzero(np.diff(row * width + near, prepend=-1))
        near, weight, row = near[best], weight[best], row[best]
        order = np.lexsort((near, -weight, row))
        near, row = near[order], row[order]
        place = np.arange(len(row)) - np.searchsorted(row, row)
        return row[place < self._most], near[place < self._most]
