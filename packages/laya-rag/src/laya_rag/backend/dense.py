"""Exact dot products with the vectors of a column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from laya_rag.backend.arrays import BLOCK, ArrayFolder
from laya_rag.backend.ranking import Ranked, Rows, best, shortlist

# Where fewer rows than this share are wanted, they are gathered instead of scanned past.
_GATHER_SHARE = 0.1


class DenseIndex:
    """The matrix `name`, `(n, d)` float32 or float16, read block by block from its file.

    A scan in single precision finds the rows that can be among the best, and the error that such a
    dot product can have (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section
    3.1: `d · eps · |x|·|q|`) is allowed for. Those rows are scored in double precision, one by one,
    so a score depends on its row and the query alone: not on the neighbours, nor on the library.
    """

    def __init__(self, arrays: ArrayFolder, name: str, places: NDArray[np.uint32]) -> None:
        self._arrays = arrays
        self._name = name
        self._places = places
        self._norm = float(arrays.facts["norms"][name])
        self.matrix: NDArray[Any] = arrays[name]

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        return int(self.matrix.shape[1])

    def top(
        self, query: NDArray[np.float32], depth: int, allowed: NDArray[np.bool_] | None
    ) -> Ranked:
        """The best `depth` of the rows in `allowed`, `(n,)`; None allows all."""
        rows = np.arange(len(self.matrix)) if allowed is None else np.flatnonzero(allowed)
        if len(rows) > depth:
            if len(rows) > _GATHER_SHARE * len(self.matrix):
                scores = self._scan(query, allowed)[rows]
            else:
                scores = self._gather(query, rows)
            norm = float(np.linalg.norm(query.astype(np.float64)))
            margin = self.dimension * float(np.finfo(np.float32).eps) * self._norm * norm
            rows = shortlist(scores, rows, depth, margin)
        return self.ranked(query, rows, depth)

    def ranked(self, query: NDArray[np.float32], rows: Rows, depth: int) -> Ranked:
        """The best `depth` of `rows`, by their exact scores."""
        return best(self.exact(query, rows), rows, depth, self._places)

    def exact(self, query: NDArray[np.float32], rows: Rows) -> NDArray[np.float64]:
        """The dot products of `rows`, `(len(rows),)`, in double precision."""
        wanted = query.astype(np.float64)
        found = np.empty(len(rows))
        for start in range(0, len(rows), BLOCK):
            block = self.matrix[rows[start : start + BLOCK]].astype(np.float64)
            # Not a matrix product, which may add up a row's terms in another order beside others.
            block *= wanted
            found[start : start + BLOCK] = block.sum(axis=1)
        return found

    def _gather(self, query: NDArray[np.float32], rows: Rows) -> NDArray[np.float32]:
        """The dot products of `rows`, `(len(rows),)`, in single precision."""
        scores = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), BLOCK):
            block = self.matrix[rows[start : start + BLOCK]]
            scores[start : start + BLOCK] = _dots(block, query)
        return scores

    def _scan(
        self, query: NDArray[np.float32], allowed: NDArray[np.bool_] | None
    ) -> NDArray[np.float32]:
        """The dot products of all rows, `(n,)`, in single precision."""
        scores = np.empty(len(self.matrix), np.float32)
        for start, block in self._arrays.blocks(self._name):
            part = scores[start : start + len(block)]
            if allowed is None or allowed[start : start + len(block)].any():
                part[:] = _dots(block, query)
            else:
                part[:] = 0
        return scores


def _dots(block: NDArray[Any], query: NDArray[np.float32]) -> NDArray[np.float32]:
    # Row by row on this thread: a matrix product would hand out shares to others and wait for the
    # slowest, which under load takes ten times as long as all of the work.
    scores: NDArray[np.float32] = np.vecdot(block.astype(np.float32, copy=False), query)
    return scores
