"""The dense signals: a column of unit vectors for each encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
from laya_signals import Encoder
from laya_signals.component import fingerprint_of
from numpy.typing import NDArray

from laya_index.bundle.schema import embedding_field
from laya_index.signal.base import CachedGenerator


class EmbeddingSignal(CachedGenerator):
    """An encoder's vectors in the column `column`, as float32 or rounded to float16."""

    ragged = False

    def __init__(
        self,
        column: str,
        encoder: Encoder,
        dtype: Literal["float32", "float16"] = "float32",
    ) -> None:
        self.column = column
        self.encoder = encoder
        self.dtype = dtype

    @property
    def fingerprint(self) -> str:
        """The encoder's; another one where the column rounds."""
        if self.dtype == "float32":
            return self.encoder.fingerprint
        return fingerprint_of([self.encoder.fingerprint, self.dtype])

    @property
    def cache_key(self) -> str:
        """The encoder's fingerprint: vectors are kept before they are rounded."""
        return self.encoder.fingerprint

    @property
    def dimension(self) -> int:
        """Components per vector."""
        return self.encoder.dimension

    def fields(self) -> list[pa.Field]:
        """One fixed-size list column."""
        return [embedding_field(self.column, self.dimension, self.dtype)]

    def vectors(self, texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        """`(dimension,)` float32 for each text."""
        return list(self.encoder.encode_documents(texts))

    def usable(self, vector: NDArray[np.float32]) -> bool:
        """Finite and not zero."""
        return bool(np.isfinite(vector).all() and vector.any())

    def arrays(self, vectors: Sequence[NDArray[np.float32]]) -> list[pa.Array]:
        """The column."""
        return [fixed_size_lists(vectors, self.fields()[0], self.dtype)]


def fixed_size_lists(
    vectors: Sequence[NDArray[np.float32]], field: pa.Field, dtype: str = "float32"
) -> pa.Array:
    """Vectors of one length as an array of `field`'s type."""
    matrix = np.empty((len(vectors), field.type.list_size), dtype)
    for row, vector in enumerate(vectors):
        matrix[row] = vector
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), type=field.type)
