"""Late interaction: MaxSim over the token vectors that a bundle kept, or their encodings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from laya_retrieval.process.maxsim import maxsim
from laya_signals.fde import FdeEncoder
from numpy.typing import NDArray

from laya_rag.backend.approximate import ApproximateIndex
from laya_rag.backend.arrays import ArrayFolder, ArrayWriter
from laya_rag.backend.dense import DenseIndex
from laya_rag.backend.ranking import Ranked, Rows, best

#: Without an encoding every passage's tokens are compared, which only so many passages allow.
EXHAUSTIVE_CHUNKS = 5_000

#: How many passages the encodings propose for each one that is wanted.
_OVERSAMPLING = 4


class TokenVectors:
    """The token vectors of every passage, `(tokens, d)` float32 each; read one by one."""

    def __init__(self, arrays: ArrayFolder, places: NDArray[np.uint32]) -> None:
        self._vectors: NDArray[np.float32] = arrays["tokens.vectors"]
        self._offsets: NDArray[np.int64] = arrays["tokens.offsets"]
        self._places = places

    @property
    def dimension(self) -> int:
        """Components of a token's vector."""
        return int(self._vectors.shape[1])

    def ranked(self, query: NDArray[np.float32], rows: Rows, depth: int) -> Ranked:
        """The best `depth` of `rows` by MaxSim; a passage without tokens is left out."""
        rows = rows[self._offsets[rows + 1] > self._offsets[rows]]
        scores = np.array(
            [
                maxsim(query, self._vectors[self._offsets[row] : self._offsets[row + 1]])
                for row in rows.tolist()
            ],
            np.float64,
        )
        return best(scores, rows, depth, self._places)


class MultiVectorIndex:
    """Finds passages by their encodings and scores them by MaxSim, as far as there are both.

    With `encodings` and `fde`, the encodings propose four passages for each one wanted; with
    `tokens`, MaxSim decides. Encodings alone decide by their dot product; token vectors alone are
    compared one and all. A passage's score depends on the passage and the query alone.
    """

    def __init__(
        self,
        chunks: int,
        tokens: TokenVectors | None,
        encodings: DenseIndex | ApproximateIndex | None,
    ) -> None:
        self._chunks = chunks
        self._tokens = tokens
        self._encodings = encodings

    def top(
        self,
        query: NDArray[np.float32],
        fde: FdeEncoder | None,
        depth: int,
        allowed: NDArray[np.bool_] | None,
    ) -> Ranked:
        """The best `depth` of the passages in `allowed`; `query` is `(tokens, d)`."""
        if self._encodings is None or fde is None:
            rows = np.arange(self._chunks) if allowed is None else np.flatnonzero(allowed)
            found = Ranked(rows, np.zeros(len(rows)))
        else:
            wanted = depth if self._tokens is None else depth * _OVERSAMPLING
            found = self._encodings.top(fde.encode_query(query), wanted, allowed)
        return found if self._tokens is None else self._tokens.ranked(query, found.rows, depth)


def write_tokens(
    writer: ArrayWriter, batches: Callable[[], Iterator[pa.RecordBatch]], dimension: int
) -> None:
    """Write the arrays of `TokenVectors`; `batches` gives the sidecar's rows in order."""
    end = 0
    with (
        writer.stream("tokens.offsets", np.int64) as offsets,
        writer.stream("tokens.vectors", np.float32, (dimension,)) as vectors,
    ):
        offsets.append(np.zeros(1, np.int64))
        for batch in batches():
            lists = batch.column("multivector")
            ends = end + np.cumsum(lists.value_lengths().to_numpy(), dtype=np.int64)
            offsets.append(ends)
            end = int(ends[-1]) if len(ends) else end
            vectors.append(lists.flatten().flatten().to_numpy().reshape(-1, dimension))
