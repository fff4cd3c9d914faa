"""The seams of everything that adds a signal to the chunk rows.

A generator is additive: it adds columns behind those that are always there, or a file beside the
chunk files, and changes nothing else. One that is not wired leaves no trace in the bundle's bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from laya_index.document import Chunk


@runtime_checkable
class SignalGenerator(Protocol):
    """Chunks to further columns.

    What a chunk gets depends on that chunk alone, never on its neighbours: bundles are built in
    batches, and reproducible to the byte. Chunks hold redacted text only.
    """

    @property
    def fingerprint(self) -> str:
        """Hex digits that change whenever the same chunk may get other values."""
        ...

    def fields(self) -> Sequence[pa.Field]:
        """Names and types of the columns; names must be new to the chunk rows."""
        ...

    def compute(self, chunks: Sequence[Chunk]) -> Sequence[pa.Array]:
        """One array per field, with one value per chunk."""
        ...


@runtime_checkable
class CachedGenerator(SignalGenerator, Protocol):
    """A generator whose work is float32 vectors of a text, worth keeping between runs.

    The pipeline asks for the vectors of texts that its cache does not know, and turns all of them
    into columns. The texts are those that encoders read: title and passage.
    """

    @property
    def cache_key(self) -> str:
        """Hex digits that name the cache: of what decides `vectors`, maybe less than all."""
        ...

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        ...

    @property
    def ragged(self) -> bool:
        """Whether a text has any number of vectors instead of one."""
        ...

    def vectors(self, texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        """One array per text, `(dimension,)`, or `(n, dimension)` if ragged."""
        ...

    def usable(self, vector: NDArray[np.float32]) -> bool:
        """Whether this may go into the bundle; the run stops, naming the record, if not."""
        ...

    def arrays(self, vectors: Sequence[NDArray[np.float32]]) -> list[Any]:
        """One Arrow array per field, from one array per chunk in the shape of `vectors`."""
        ...

    def columns(
        self,
        chunks: Sequence[Chunk],  # noqa: ARG002 - for those that override it
        vectors: Sequence[NDArray[np.float32]],
    ) -> Sequence[pa.Array]:
        """What the pipeline asks for: `arrays`, unless the chunks have a say in it too."""
        return self.arrays(vectors)

    def compute(self, chunks: Sequence[Chunk]) -> Sequence[pa.Array]:
        """The columns without a cache."""
        return self.columns(chunks, self.vectors([chunk.encoder_text for chunk in chunks]))


@runtime_checkable
class SidecarGenerator(CachedGenerator, Protocol):
    """A generator that also writes a file of its own beside each chunk file."""

    @property
    def kind(self) -> str:
        """The file's kind, and the folder that it lies in; one of `SIDECAR_KINDS`."""
        ...

    def sidecar(
        self, record_ids: Sequence[str], vectors: Sequence[NDArray[np.float32]]
    ) -> pa.Table:
        """The rows of the file, one per chunk."""
        ...
