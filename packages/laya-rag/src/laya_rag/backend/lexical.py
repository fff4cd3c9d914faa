"""BM25 over a bundle's postings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from laya_signals.bm25 import saturation
from numpy.typing import NDArray


class LexicalIndex:
    """Every posting's BM25 weight, computed once; a query adds up the lists of its terms.

    `terms` and `postings` are the bundle's tables (see `laya_index.bundle.schema`), `documents`
    the number of chunks.
    """

    def __init__(
        self,
        terms: pa.Table,
        postings: pa.Table,
        documents: int,
        *,
        average_length: float,
        k1: float,
        b: float,
    ) -> None:
        self._documents = documents
        self._rows = {term: row for row, term in enumerate(terms["term"].to_pylist())}
        ordinals = postings["ordinals"].combine_chunks()
        frequencies = postings["frequencies"].combine_chunks()
        self._offsets: NDArray[np.int64] = ordinals.offsets.to_numpy().astype(np.int64)
        self._ordinals: NDArray[np.uint32] = ordinals.values.to_numpy()
        counts = frequencies.values.to_numpy()
        lengths = np.bincount(self._ordinals, weights=counts, minlength=documents)
        idf = np.repeat(terms["idf"].to_numpy(), np.diff(self._offsets))
        self._weights: NDArray[np.float64] = idf * saturation(
            counts, lengths[self._ordinals], average_length, k1=k1, b=b
        )

    def scores(self, terms: Iterable[str]) -> NDArray[np.float64]:
        """The BM25 score of every chunk, `(n,)` float64; 0 where no term occurs.

        A term that the query repeats counts as often as it stands there.
        """
        total = np.zeros(self._documents)
        for term, times in sorted(Counter(terms).items()):
            row = self._rows.get(term)
            if row is not None:
                span = slice(self._offsets[row], self._offsets[row + 1])
                total[self._ordinals[span]] += times * self._weights[span]
        return total
