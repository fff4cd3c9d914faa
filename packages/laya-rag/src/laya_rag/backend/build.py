"""Making the arrays that a bundle is searched with from its Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from laya_index.bundle.manifest import Bm25Entry, Manifest
from laya_index.bundle.reader import BundleReader
from laya_index.bundle.schema import FDE_COLUMN

from laya_rag.backend.arrays import ArrayWriter
from laya_rag.backend.columns import write_column
from laya_rag.backend.documents import FIELDS as DOCUMENT_FIELDS
from laya_rag.backend.documents import write_documents
from laya_rag.backend.lexical import Weighting, write_lexical
from laya_rag.backend.multivector import write_tokens
from laya_rag.backend.sparse import write_sparse
from laya_rag.backend.strings import StringsWriter, write_order, write_strings

#: What comes back with each candidate, and what can be filtered by.
FIELDS = (
    "document_id",
    "ordinal",
    "start",
    "end",
    "title",
    "heading_path",
    "media_type",
    "trust_tier",
    "tenants",
)

#: A struct column whose fields stand beside the others, where the bundle has a graph.
HEADER = "context_header"

#: Told what is being made, how many steps are done, and how many there are.
Progress = Callable[[str, int, int], None]


def matrices(manifest: Manifest) -> dict[str, tuple[int, str]]:
    """Every column of vectors: its dimension, and the type of its components."""
    found = {name: (entry.dimension, entry.dtype) for name, entry in manifest.embeddings.items()}
    fde = manifest.signals.get("fde")
    if fde is not None and fde.dimension is not None:
        found[FDE_COLUMN] = (fde.dimension, "float32")
    return found


def write_arrays(reader: BundleReader, folder: Path, progress: Progress) -> None:
    """Write everything that search, filters and listings need into `folder`.

    Memory stays bounded by one column of short values or one batch of rows. Raises `BundleError`
    when a file of the bundle cannot be read; an exception of `progress` ends the work.
    """
    builder = _Builder(reader, ArrayWriter(folder), progress)
    builder.run()
    # What the columns took would otherwise stay with the process for good.
    pa.default_memory_pool().release_unused()


class _Builder:
    """Goes through the bundle's signals, one step each."""

    def __init__(self, reader: BundleReader, writer: ArrayWriter, progress: Progress) -> None:
        self._reader = reader
        self._writer = writer
        self._progress = progress
        self._facts: dict[str, Any] = {"norms": {}}
        self._state = ("", 0, 0)

    def run(self) -> None:
        manifest = self._reader.manifest
        steps: dict[str, Callable[[], None]] = {"texts": self._texts, "metadata": self._metadata}
        if manifest.bm25 is not None:
            steps["postings"] = partial(self._lexical, manifest.bm25)
        for name, (dimension, dtype) in matrices(manifest).items():
            steps[name] = partial(self._matrix, name, dimension, dtype)
        if "sparse" in manifest.signals:
            steps["sparse"] = self._sparse
        tokens = manifest.signals.get("multivector")
        if tokens is not None and tokens.kind is not None and tokens.dimension is not None:
            steps["tokens"] = partial(self._tokens, tokens.kind, tokens.dimension)
        for number, (name, step) in enumerate(steps.items()):
            self._state = (name, number, len(steps))
            self._progress(*self._state)
            step()
        self._writer.finish(self._facts)
        self._progress("done", len(steps), len(steps))

    def _batches(self, kind: str, *columns: str, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        for batch in self._reader.batches(kind, columns, rows=rows):
            self._progress(*self._state)
            yield batch

    def _texts(self) -> None:
        texts = StringsWriter(self._writer, "content")
        for batch in self._batches("chunks", "content"):
            texts.append(batch.column("content").to_pylist())
        texts.close()

    def _metadata(self) -> None:
        import pyarrow.compute as pc  # here, since a query has no need of it

        reader, writer = self._reader, self._writer
        ids = reader.read("chunks", ["record_id"])["record_id"]
        order = pc.sort_indices(ids).to_numpy()
        places = np.empty(len(order), np.uint32)
        places[order] = np.arange(len(order), dtype=np.uint32)
        write_strings(writer, "records", ids.to_pylist())
        write_order(writer, "records", order)
        writer.put("records.places", places)
        columns = {}
        for name in FIELDS:
            columns[name] = write_column(writer, name, reader.read("chunks", [name])[name])
        for name, column in _header(reader):
            columns[name] = write_column(writer, name, column)
        self._facts["columns"] = columns
        documents = reader.read("documents", ["document_id", *DOCUMENT_FIELDS])
        write_documents(writer, documents, reader.read("chunks", ["document_id", "ordinal"]))

    def _lexical(self, entry: Bm25Entry) -> None:
        write_lexical(
            self._writer,
            partial(self._batches, "bm25-postings"),
            self._reader.manifest.counts.chunks,
            Weighting.of(entry),
        )

    def _matrix(self, name: str, dimension: int, dtype: str) -> None:
        longest = 0.0
        with self._writer.stream(name, dtype, (dimension,)) as stream:
            for batch in self._batches("chunks", name):
                rows = batch.column(name).flatten().to_numpy().reshape(-1, dimension)
                stream.append(rows)
                norms = np.linalg.norm(rows.astype(np.float64), axis=1)
                longest = max(longest, float(norms.max(initial=0.0)))
        self._facts["norms"][name] = longest

    def _sparse(self) -> None:
        write_sparse(
            self._writer, partial(self._batches, "chunks", "sparse_indices", "sparse_values")
        )

    def _tokens(self, kind: str, dimension: int) -> None:
        write_tokens(self._writer, partial(self._batches, kind, "multivector", rows=256), dimension)


def _header(reader: BundleReader) -> Iterator[tuple[str, pa.ChunkedArray]]:
    if HEADER not in reader.schema("chunks").names:
        return
    column = reader.read("chunks", [HEADER])[HEADER]
    for field, values in zip(column.type, column.flatten(), strict=True):
        yield field.name, values
