"""Token vectors in a file beside the chunk file, and their fixed-dimensional encodings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from laya_signals.component import fingerprint_of
from laya_signals.fde import FdeEncoder
from laya_signals.multivector import MultiVectorEncoder
from numpy.typing import NDArray

from laya_index.bundle.schema import FDE_COLUMN, MULTIVECTOR_COLUMNS, embedding_field
from laya_index.signal.base import CachedGenerator
from laya_index.signal.embedding import fixed_size_lists


class TokenSignal(CachedGenerator):
    """What comes from an encoder of tokens: their vectors, their encoding, or both."""

    def __init__(self, tokens: MultiVectorEncoder, fde: FdeEncoder | None = None) -> None:
        self.tokens = tokens
        self.fde = fde

    @property
    def fingerprint(self) -> str:
        """That of the encoder and, where there is one, of the encoding."""
        return fingerprint_of(
            [self.tokens.fingerprint, None if self.fde is None else self.fde.fingerprint]
        )

    @property
    def width(self) -> int:
        """Components of an encoding; 0 without one."""
        return 0 if self.fde is None else self.fde.width(self.tokens.dimension)

    def fields(self) -> list[pa.Field]:
        """A fixed-size list column for the encoding, if there is one."""
        return [] if self.fde is None else [embedding_field(FDE_COLUMN, self.width)]

    def usable(self, vector: NDArray[np.float32]) -> bool:
        """Finite; a passage without tokens has no vector, and an encoding of zeros."""
        return bool(np.isfinite(vector).all())


class MultiVectorSignal(TokenSignal):
    """Keeps the token vectors: `multivectors/<shard>-<hash>.parquet`."""

    kind = "multivectors"
    ragged = True

    @property
    def cache_key(self) -> str:
        """The token encoder's fingerprint: encodings are quickly made from its vectors."""
        return self.tokens.fingerprint

    @property
    def dimension(self) -> int:
        """Components per token vector."""
        return self.tokens.dimension

    def vectors(self, texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        """`(tokens, dimension)` float32 for each text."""
        return self.tokens.encode_documents(texts)

    def arrays(self, vectors: Sequence[NDArray[np.float32]]) -> list[pa.Array]:
        """The encodings."""
        if self.fde is None:
            return []
        encoded = [self.fde.encode_document(vector) for vector in vectors]
        return [fixed_size_lists(encoded, self.fields()[0])]

    def sidecar(
        self, record_ids: Sequence[str], vectors: Sequence[NDArray[np.float32]]
    ) -> pa.Table:
        """The token vectors by record id."""
        outer = MULTIVECTOR_COLUMNS.field("multivector").type
        rows = np.cumsum([0, *(len(vector) for vector in vectors)])
        flat = np.concatenate([np.empty(0, np.float32), *(v.ravel() for v in vectors)])
        inner = pa.ListArray.from_arrays(
            pa.array(np.arange(rows[-1] + 1, dtype=np.int64) * self.dimension, pa.int32()),
            pa.array(flat, pa.float32()),
            type=outer.value_type,
        )
        lists = pa.ListArray.from_arrays(pa.array(rows, pa.int32()), inner, type=outer)
        return pa.table([pa.array(record_ids, pa.string()), lists], schema=MULTIVECTOR_COLUMNS)


class FdeSignal(TokenSignal):
    """Keeps only the encodings: `keep_multivectors: false`."""

    ragged = False

    def __init__(self, tokens: MultiVectorEncoder, fde: FdeEncoder) -> None:
        super().__init__(tokens, fde)
        self._encode = fde.encode_document

    @property
    def cache_key(self) -> str:
        """Of the encoding: the token vectors are not kept."""
        return self.fingerprint

    @property
    def dimension(self) -> int:
        """Components of an encoding."""
        return self.width

    def vectors(self, texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        """`(width,)` float32 for each text."""
        return [self._encode(vectors) for vectors in self.tokens.encode_documents(texts)]

    def arrays(self, vectors: Sequence[NDArray[np.float32]]) -> list[pa.Array]:
        """The column."""
        return [fixed_size_lists(vectors, self.fields()[0])]
