"""One state of a bundle, opened for searching."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from laya_index.bundle.manifest import Manifest
from laya_index.bundle.schema import FDE_COLUMN
from laya_retrieval.candidate import Candidate
from laya_retrieval.retrieve.backend import Capability
from numpy.typing import NDArray

from laya_rag.backend.approximate import ApproximateIndex, write_approximate
from laya_rag.backend.arrays import ArrayFolder, ArrayWriter
from laya_rag.backend.build import Progress, matrices
from laya_rag.backend.columns import Columns
from laya_rag.backend.dense import DenseIndex
from laya_rag.backend.derived import DerivedCache
from laya_rag.backend.documents import Documents
from laya_rag.backend.lexical import LexicalIndex, Weighting
from laya_rag.backend.models import QueryModels, leg_of
from laya_rag.backend.multivector import EXHAUSTIVE_CHUNKS, MultiVectorIndex, TokenVectors
from laya_rag.backend.ranking import Ranked
from laya_rag.backend.sparse import SparseIndex
from laya_rag.backend.strings import Strings


class Snapshot:
    """The arrays of a bundle, the indexes over them, and the models of its queries.

    Nothing in it changes once it is made: any number of threads may use it.
    """

    def __init__(self, manifest: Manifest, arrays: ArrayFolder, models: QueryModels) -> None:
        self.manifest = manifest
        self.arrays = arrays
        self.models = models
        self.chunks = manifest.counts.chunks
        self.records = Strings(arrays, "records")
        #: For every chunk the place of its id among all ids, `(n,)`: what breaks ties.
        self.places: NDArray[np.uint32] = arrays["records.places"]
        self.columns = Columns(arrays)
        self.documents = Documents(arrays)
        self._contents = Strings(arrays, "content")
        self.lexical: LexicalIndex | None = None
        if (bm25 := manifest.bm25) is not None:
            self.lexical = LexicalIndex(arrays, Weighting.of(bm25))
        self.exact = {name: DenseIndex(arrays, name, self.places) for name in matrices(manifest)}
        self.approximate: dict[str, ApproximateIndex] = {}
        self.sparse = SparseIndex(arrays, self.chunks) if "sparse" in manifest.signals else None
        tokens = manifest.signals.get("multivector")
        kept = tokens is not None and tokens.kind is not None
        self._tokens = TokenVectors(arrays, self.places) if kept else None
        #: By leg, `dense` or `dense:<name>`, the column that serves it.
        self.dense = {leg_of(name): name for name in manifest.embeddings}

    def open_approximate(self, cache: DerivedCache, progress: Progress) -> None:
        """Have an inverted file for every column of vectors; made where there is none."""
        if not self.chunks:
            return
        for name, exact in self.exact.items():
            folder = f"approximate-{name}"
            read = partial(_read_approximate, exact)
            found = cache.open(folder, read)
            if found is None:
                progress(folder, 0, 1)
                found = cache.build(folder, partial(_fill_approximate, exact), read)
                progress(folder, 1, 1)
            self.approximate[name] = found

    @property
    def capabilities(self) -> frozenset[Capability]:
        """A leg for every signal of the bundle; FILTER always.

        Token vectors without an encoding are a leg only up to `EXHAUSTIVE_CHUNKS` chunks.
        """
        found = {Capability.FILTER}
        if self.lexical is not None:
            found.add(Capability.BM25)
        if self.dense:
            found.add(Capability.DENSE)
        if self.sparse is not None:
            found.add(Capability.SPARSE)
        if FDE_COLUMN in self.exact or (self._tokens and self.chunks <= EXHAUSTIVE_CHUNKS):
            found.add(Capability.MULTIVECTOR)
        return frozenset(found)

    def vectors(self, column: str, *, whole: bool) -> DenseIndex | ApproximateIndex:
        """The index of a column; only who may see the `whole` corpus gets an approximate one."""
        if whole and column in self.approximate:
            return self.approximate[column]
        return self.exact[column]

    def multivectors(self, *, whole: bool) -> MultiVectorIndex:
        """The late-interaction index, see `vectors`."""
        encodings = self.vectors(FDE_COLUMN, whole=whole) if FDE_COLUMN in self.exact else None
        return MultiVectorIndex(self.chunks, self._tokens, encodings)

    @property
    def token_dimension(self) -> int:
        """Components of a token's vector; 0 without that signal."""
        entry = self.manifest.signals.get("multivector")
        return 0 if entry is None or entry.dimension is None else entry.dimension

    def candidates(self, found: Ranked) -> list[Candidate]:
        """The chunks of a leg with their texts and fields."""
        rows = found.rows
        return [
            Candidate(*parts)
            for parts in zip(
                self.records.take(rows),
                found.scores.tolist(),
                self._contents.take(rows),
                self.columns.take(rows),
                strict=True,
            )
        ]


def _read_approximate(exact: DenseIndex, folder: Path) -> ApproximateIndex:
    return ApproximateIndex(ArrayFolder(folder), exact)


def _fill_approximate(exact: DenseIndex, folder: Path) -> None:
    writer = ArrayWriter(folder)
    writer.finish(write_approximate(writer, exact.matrix))
