"""The map stage: a batch of documents to chunk rows with their signals."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from laya_signals import EncodeError, Encoder, Tokenizer
from laya_signals.component import fingerprint_of
from numpy.typing import NDArray

from laya_index.bundle.schema import (
    CHUNK_COLUMNS,
    CLASSIFICATION,
    DOCUMENT_COLUMNS,
    PROVENANCE,
    SCHEMA_VERSION,
    embedding_field,
)
from laya_index.cache import VectorCache, text_key
from laya_index.chunk.base import Chunker, check_spans
from laya_index.document import Chunk, RedactedDocument, SourceDocument
from laya_index.errors import SignalStageError
from laya_index.redact.base import Redactor, redact
from laya_index.signal.bm25 import count_terms
from laya_index.stack import Stack
from laya_index.trust import Trust, TrustPolicy

EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True)
class Lexical:
    """The lexical signal's tokenizer and title weight."""

    tokenizer: Tokenizer
    title_weight: int


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The components of a stack, ready to be sent to a worker."""

    source_name: str
    redactor: Redactor | None
    chunker: Chunker
    trust: TrustPolicy
    lexical: Lexical | None
    encoders: Mapping[str, Encoder]
    cache: Path

    @classmethod
    def of(cls, stack: Stack, cache: Path) -> Pipeline:
        """Build every component; raises `StackError` naming the line of one that cannot be."""
        model = stack.model
        bm25 = model.signals.bm25
        encoders: dict[str, Encoder] = {}
        if model.signals.embedding is not None:
            encoders[EMBEDDING] = stack.build(("signals", "embedding"), Encoder)
        return cls(
            source_name=model.source.provider,
            redactor=None if model.redact is None else stack.build(("redact",), Redactor),
            chunker=stack.build(("chunk",), Chunker),
            trust=stack.build(("trust",), TrustPolicy),
            lexical=None
            if bm25 is None
            else Lexical(stack.build(("signals", "bm25"), Tokenizer), bm25.title_weight),
            encoders=encoders,
            cache=cache,
        )

    @property
    def fingerprints(self) -> dict[str, str]:
        """The fingerprint of every component, by stage."""
        found = {"chunk": self.chunker.fingerprint, "trust": self.trust.fingerprint}
        if self.redactor is not None:
            found["redact"] = self.redactor.fingerprint
        if self.lexical is not None:
            found["bm25"] = self.lexical.tokenizer.fingerprint
        found.update({name: encoder.fingerprint for name, encoder in self.encoders.items()})
        return dict(sorted(found.items()))

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same documents may give other rows."""
        weight = None if self.lexical is None else self.lexical.title_weight
        return fingerprint_of([SCHEMA_VERSION, self.source_name, self.fingerprints, weight])

    def vector_cache(self, column: str) -> VectorCache:
        """The cache of the encoder behind an embedding column."""
        encoder = self.encoders[column]
        return VectorCache(self.cache / f"vectors-{encoder.fingerprint}.sqlite", encoder.dimension)


@dataclass(frozen=True, slots=True)
class Part:
    """What the map stage makes of a batch of documents.

    `vectors` are the newly computed ones by embedding column, for the cache; `seconds` is the
    time spent by stage.
    """

    documents: pa.Table
    chunks: pa.Table
    postings: pa.Table | None
    vectors: dict[str, list[tuple[bytes, NDArray[np.float32]]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickling an Arrow table forgets that the items of fixed-size lists are never null, and
        # with it the bytes that a run without workers writes. Arrow's own format does not.
        tables = [_packed(table) for table in (self.documents, self.chunks, self.postings)]
        return _unpacked, (tables, self.vectors, self.seconds)


def _packed(table: pa.Table | None) -> bytes | None:
    if table is None:
        return None
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _unpacked(
    tables: Sequence[bytes | None],
    vectors: dict[str, list[tuple[bytes, NDArray[np.float32]]]],
    seconds: dict[str, float],
) -> Part:
    documents, chunks, postings = (
        None if data is None else pa.ipc.open_stream(data).read_all() for data in tables
    )
    return Part(documents, chunks, postings, vectors, seconds)


def index_documents(pipeline: Pipeline, documents: Sequence[SourceDocument]) -> Part:
    """Redact, chunk, and compute the signals of `documents`, in the order given.

    A pure function of its arguments but for the vector cache, which only saves time.
    """
    clock = _Clock()
    redacted = [redact(document, pipeline.redactor) for document in documents]
    clock.stop("redact")
    trusts = [pipeline.trust.assign(document.id) for document in documents]
    chunked = [_chunks(document, pipeline.chunker) for document in redacted]
    chunks = [chunk for group in chunked for chunk in group]
    clock.stop("chunk")
    postings = None
    if pipeline.lexical is not None:
        lexical = pipeline.lexical
        postings = count_terms(chunks, lexical.tokenizer, lexical.title_weight)
        clock.stop("bm25")
    table = _chunk_table(pipeline, chunked, trusts)
    vectors = {}
    for column, encoder in pipeline.encoders.items():
        matrix, vectors[column] = _encode(pipeline, column, encoder, chunks)
        array = pa.FixedSizeListArray.from_arrays(
            pa.array(matrix.ravel()), type=embedding_field(column, encoder.dimension).type
        )
        table = table.append_column(embedding_field(column, encoder.dimension), array)
        clock.stop(column)
    rows = _document_table(redacted, chunked, trusts)
    return Part(rows, table, postings, vectors, clock.seconds)


def _chunks(document: RedactedDocument, chunker: Chunker) -> list[Chunk]:
    spans = chunker.chunk(document)
    check_spans(document, spans)
    return [
        Chunk(
            document=document,
            ordinal=ordinal,
            start=document.offsets.start_of(span.start),
            end=document.offsets.end_of(span.end),
            content=document.text[span.start : span.end],
            heading_path=span.heading_path,
        )
        for ordinal, span in enumerate(spans)
    ]


def _encode(
    pipeline: Pipeline, column: str, encoder: Encoder, chunks: Sequence[Chunk]
) -> tuple[NDArray[np.float32], list[tuple[bytes, NDArray[np.float32]]]]:
    """The vectors of `chunks`, `(n, d)` float32, and those that were not in the cache."""
    keys = [text_key(chunk.encoder_text) for chunk in chunks]
    cache = pipeline.vector_cache(column)
    try:
        known = cache.get(sorted(set(keys)))
    finally:
        cache.close()
    wanted = {key: chunk for key, chunk in zip(keys, chunks, strict=True) if key not in known}
    new: list[tuple[bytes, NDArray[np.float32]]] = []
    if wanted:
        try:
            fresh = encoder.encode_documents([chunk.encoder_text for chunk in wanted.values()])
        except EncodeError as error:
            names = ", ".join(chunk.record_id for chunk in wanted.values())
            raise SignalStageError(f"{column}: among the records {names}: {error}") from error
        for chunk, vector in zip(wanted.values(), fresh, strict=True):
            if not np.isfinite(vector).all() or not vector.any():
                raise SignalStageError(f"{column}: record {chunk.record_id!r} has no usable vector")
        new = list(zip(wanted, fresh, strict=True))
        known.update(new)
    matrix = np.empty((len(keys), encoder.dimension), np.float32)
    for row, key in enumerate(keys):
        matrix[row] = known[key]
    return matrix, new


def _chunk_table(
    pipeline: Pipeline,
    chunked: Sequence[Sequence[Chunk]],
    trusts: Sequence[Trust],
) -> pa.Table:
    pairs = [
        (chunk, trust) for group, trust in zip(chunked, trusts, strict=True) for chunk in group
    ]
    source = pipeline.source_name
    columns: dict[str, Any] = {
        "record_id": [chunk.record_id for chunk, _ in pairs],
        "document_id": [chunk.document.id for chunk, _ in pairs],
        "ordinal": [chunk.ordinal for chunk, _ in pairs],
        "start": [chunk.start for chunk, _ in pairs],
        "end": [chunk.end for chunk, _ in pairs],
        "content": [chunk.content for chunk, _ in pairs],
        "title": [chunk.document.title for chunk, _ in pairs],
        "heading_path": [list(chunk.heading_path) for chunk, _ in pairs],
        "media_type": [chunk.document.media_type for chunk, _ in pairs],
        "schema_version": [SCHEMA_VERSION] * len(pairs),
        "provenance": pa.array(
            [
                {"source": source, "uri": chunk.document.uri, "digest": chunk.document.digest}
                for chunk, _ in pairs
            ],
            PROVENANCE,
        ),
        "classification": pa.array(
            [
                {
                    "pii_kinds": list(chunk.document.redactions),
                    "pii_count": sum(chunk.document.redactions.values()),
                }
                for chunk, _ in pairs
            ],
            CLASSIFICATION,
        ),
        "trust_tier": [trust.tier for _, trust in pairs],
        "tenants": [_list(trust.tenants) for _, trust in pairs],
    }
    return pa.table(columns, schema=CHUNK_COLUMNS)


def _document_table(
    documents: Sequence[RedactedDocument],
    chunked: Sequence[Sequence[Chunk]],
    trusts: Sequence[Trust],
) -> pa.Table:
    columns: dict[str, Any] = {
        "document_id": [document.id for document in documents],
        "title": [document.title for document in documents],
        "uri": [document.uri for document in documents],
        "media_type": [document.media_type for document in documents],
        "digest": [document.digest for document in documents],
        "characters": [document.offsets.end_of(len(document.text)) for document in documents],
        "chunks": [len(group) for group in chunked],
        "trust_tier": [trust.tier for trust in trusts],
        "tenants": [_list(trust.tenants) for trust in trusts],
        "metadata": [sorted(document.metadata.items()) for document in documents],
        "redactions": [list(document.redactions.items()) for document in documents],
    }
    return pa.table(columns, schema=DOCUMENT_COLUMNS)


def _list(tenants: tuple[str, ...] | None) -> list[str] | None:
    return None if tenants is None else list(tenants)


class _Clock:
    """Seconds since the last stop, by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def stop(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now
