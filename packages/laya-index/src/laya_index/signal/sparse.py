"""The sparse signal: two list columns, indices and their weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from laya_signals.sparse import SparseEncoder

from laya_index.bundle.schema import sparse_fields
from laya_index.document import Chunk
from laya_index.signal.base import SignalGenerator


class SparseSignal(SignalGenerator):
    """A sparse encoder's vectors: strictly ascending indices, and float32 weights beside them."""

    def __init__(self, encoder: SparseEncoder) -> None:
        self.encoder = encoder

    @property
    def fingerprint(self) -> str:
        """The encoder's."""
        return self.encoder.fingerprint

    @property
    def dimension(self) -> int:
        """Number of indices."""
        return self.encoder.dimension

    def fields(self) -> list[pa.Field]:
        """`sparse_indices` (uint32, or int64 beyond that) and `sparse_values` (float32)."""
        return sparse_fields(self.encoder.dimension)

    def compute(self, chunks: Sequence[Chunk]) -> list[pa.Array]:
        """Both columns; empty lists for a passage without terms."""
        vectors = self.encoder.encode([chunk.encoder_text for chunk in chunks])
        offsets = pa.array(np.cumsum([0, *(len(vector) for vector in vectors)]), pa.int32())
        indices, values = self.fields()
        return [
            pa.ListArray.from_arrays(
                offsets,
                pa.array(
                    np.concatenate([np.empty(0, np.int64), *(v.indices for v in vectors)]),
                    indices.type.value_type,
                ),
                type=indices.type,
            ),
            pa.ListArray.from_arrays(
                offsets,
                pa.array(np.concatenate([np.empty(0, np.float32), *(v.values for v in vectors)])),
                type=values.type,
            ),
        ]
