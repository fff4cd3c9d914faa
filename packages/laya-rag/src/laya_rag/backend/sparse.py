"""Dot products with sparse vectors, over an inverted file."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from laya_signals.sparse.vector import SparseVector
from numpy.typing import NDArray

from laya_rag.backend.arrays import ArrayFolder, ArrayWriter


class SparseIndex:
    """For every index that occurs, the chunks that have it and their weights there."""

    def __init__(self, arrays: ArrayFolder, chunks: int) -> None:
        self._chunks = chunks
        self._indices: NDArray[np.int64] = arrays["sparse.indices"]
        self._offsets: NDArray[np.int64] = arrays["sparse.offsets"]
        self._ordinals: NDArray[np.uint32] = arrays["sparse.ordinals"]
        self._weights: NDArray[np.float32] = arrays["sparse.weights"]

    def scores(self, query: SparseVector) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The dot product of every chunk, `(n,)` float64, and which share an index, `(n,)`."""
        total = np.zeros(self._chunks)
        touched = np.zeros(self._chunks, dtype=bool)
        found = np.searchsorted(self._indices, query.indices)
        for place, index, value in zip(
            found.tolist(), query.indices.tolist(), query.values.tolist(), strict=True
        ):
            if place < len(self._indices) and self._indices[place] == index:
                span = slice(int(self._offsets[place]), int(self._offsets[place + 1]))
                ordinals = self._ordinals[span]
                total[ordinals] += np.float64(value) * self._weights[span]
                touched[ordinals] = True
        return total, touched


def write_sparse(writer: ArrayWriter, batches: Callable[[], Iterator[pa.RecordBatch]]) -> None:
    """Write the arrays of a `SparseIndex`.

    `batches` gives the sparse columns of all chunks in order, and is read twice: once to count how
    often each index occurs, once to put every weight in its place.
    """
    known, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    for batch in batches():
        found, times = np.unique(_flat(batch, "sparse_indices"), return_counts=True)
        merged, inverse = np.unique(np.concatenate([known, found]), return_inverse=True)
        counts = np.bincount(
            inverse, weights=np.concatenate([counts, times]), minlength=len(merged)
        ).astype(np.int64)
        known = merged.astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    writer.put("sparse.indices", known)
    writer.put("sparse.offsets", offsets)
    ordinals = writer.scratch("sparse.ordinals", np.uint32, int(offsets[-1]))
    weights = writer.scratch("sparse.weights", np.float32, int(offsets[-1]))
    filled = offsets[:-1].copy()
    row = 0
    for batch in batches():
        places = np.searchsorted(known, _flat(batch, "sparse_indices"))
        rows = np.repeat(
            np.arange(row, row + len(batch)),
            batch.column("sparse_indices").value_lengths().to_numpy(),
        )
        row += len(batch)
        # A stable sort keeps the chunks of an index in ascending order.
        order = np.argsort(places, kind="stable")
        found, firsts, times = np.unique(places[order], return_index=True, return_counts=True)
        within = np.arange(len(order)) - np.repeat(firsts, times)
        target = np.repeat(filled[found], times) + within
        ordinals[target] = rows[order]
        weights[target] = _flat(batch, "sparse_values")[order]
        filled[found] += times
    for array in (ordinals, weights):
        if isinstance(array, np.memmap):
            array.flush()


def _flat(batch: pa.RecordBatch, column: str) -> NDArray[np.generic]:
    values: NDArray[np.generic] = batch.column(column).flatten().to_numpy()
    return values
