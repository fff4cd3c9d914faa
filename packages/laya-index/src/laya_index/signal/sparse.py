"""The sparse signal: two list columns, indices and their weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from laya_signals.component import fingerprint_of
from laya_signals.sparse import Entity, SparseEncoder, SparseVector, compose_vectors
from numpy.typing import NDArray

from laya_index.bundle.schema import sparse_fields
from laya_index.document import Chunk
from laya_index.graph.entity import EntityExtractor
from laya_index.signal.base import CachedGenerator, SignalGenerator
from laya_index.stack import ComposeBlock


class SparseSignal(SignalGenerator):
    """A sparse encoder's vectors: strictly ascending indices, and float32 weights beside them.

    With a `composition`, the terms of a passage's entities and of its document's metadata are
    added, as `laya_signals.sparse.compose` says; `extractor` finds the entities.
    """

    def __init__(
        self,
        encoder: SparseEncoder,
        composition: ComposeBlock | None = None,
        extractor: EntityExtractor | None = None,
    ) -> None:
        self.encoder = encoder
        self._compose = composition
        self._extractor = extractor

    @property
    def fingerprint(self) -> str:
        """The encoder's, or one over all three."""
        if self._compose is None:
            return self.encoder.fingerprint
        found = None if self._extractor is None else self._extractor.fingerprint
        return fingerprint_of([self.encoder.fingerprint, self.composition, found])

    @property
    def composition(self) -> dict[str, Any] | None:
        """The composition's settings, as a query needs them."""
        return None if self._compose is None else self._compose.model_dump(mode="json")

    def fields(self) -> list[pa.Field]:
        """`sparse_indices` (uint32, or int64 beyond that) and `sparse_values` (float32)."""
        return sparse_fields(self.encoder.dimension)

    def compute(self, chunks: Sequence[Chunk]) -> list[pa.Array]:
        """Both columns; empty lists for a passage without terms."""
        vectors = self.encoder.encode([chunk.encoder_text for chunk in chunks])
        return self._columns(chunks, vectors)

    def _columns(self, chunks: Sequence[Chunk], vectors: list[SparseVector]) -> list[pa.Array]:
        if self._compose is not None:
            keys = self._compose.metadata
            vectors = compose_vectors(
                self.encoder,
                vectors,
                self._compose,
                entities=[self._entities(chunk) for chunk in chunks],
                metadata_terms=[
                    [chunk.document.metadata[key] for key in keys if key in chunk.document.metadata]
                    for chunk in chunks
                ],
            )
        return _lists(self.fields(), vectors)

    def _entities(self, chunk: Chunk) -> list[Entity]:
        if self._extractor is None:
            return []
        found = self._extractor.find(chunk.content)
        return [(mention.name, mention.confidence) for mention in found]


class CachedSparseSignal(SparseSignal, CachedGenerator):
    """The same for an encoder whose vectors are worth keeping between runs.

    A cached array is `(n, 2)`: beside each weight the four bytes of its index. The encoder's
    vectors are kept, not the composed ones, so that other boosts encode nothing again.
    """

    dimension = 2
    ragged = True

    @property
    def cache_key(self) -> str:
        """The encoder's fingerprint."""
        return self.encoder.fingerprint

    def vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """`(n, 2)` float32 for each text."""
        return [
            np.stack([vector.indices.astype(np.int32).view(np.float32), vector.values], axis=1)
            for vector in self.encoder.encode(texts)
        ]

    def usable(self, vector: NDArray[np.float32]) -> bool:
        """A sparse vector is finite, or there is none."""
        return bool(np.isfinite(vector[:, 1]).all())

    def arrays(self, vectors: Sequence[NDArray[np.float32]]) -> list[pa.Array]:
        """Both columns of the encoder's vectors as they are."""
        return _lists(self.fields(), [_unpacked(vector) for vector in vectors])

    def columns(
        self, chunks: Sequence[Chunk], vectors: Sequence[NDArray[np.float32]]
    ) -> list[pa.Array]:
        """Both columns, composed."""
        return self._columns(chunks, [_unpacked(vector) for vector in vectors])


def _unpacked(vector: NDArray[np.float32]) -> SparseVector:
    return SparseVector.from_arrays(vector[:, 0].copy().view(np.int32), vector[:, 1])


def _lists(fields: Sequence[pa.Field], vectors: Sequence[SparseVector]) -> list[pa.Array]:
    offsets = pa.array(np.cumsum([0, *(len(vector) for vector in vectors)]), pa.int32())
    flat = (
        np.concatenate([np.empty(0, np.int64), *(vector.indices for vector in vectors)]),
        np.concatenate([np.empty(0, np.float32), *(vector.values for vector in vectors)]),
    )
    return [
        pa.ListArray.from_arrays(offsets, pa.array(items, field.type.value_type), type=field.type)
        for field, items in zip(fields, flat, strict=True)
    ]
