"""The map stage: a batch of documents to chunk rows with their signals."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from laya_signals import Encoder, SignalError, Tokenizer
from laya_signals.component import fingerprint_of
from laya_signals.fde import FdeEncoder
from laya_signals.multivector import MultiVectorEncoder
from laya_signals.sparse import SparseEncoder
from numpy.typing import NDArray

from laya_index.bundle.schema import (
    CHUNK_COLUMNS,
    CLASSIFICATION,
    DOCUMENT_COLUMNS,
    HEADER_COLUMN,
    PROVENANCE,
    SCHEMA_VERSION,
    SIDECAR_KINDS,
    node_columns,
)
from laya_index.cache import VectorCache, text_key
from laya_index.chunk.base import Chunker, SizedByCorpus, check_spans
from laya_index.context import Context, LedChunk, led_text
from laya_index.document import Chunk, RedactedDocument, SourceDocument
from laya_index.errors import SignalStageError, StackError
from laya_index.graph.assemble import GraphStage
from laya_index.graph.entity import EntityExtractor
from laya_index.graph.features import GraphFeature
from laya_index.graph.mentions import count_mentions
from laya_index.redact.base import Redactor, redact
from laya_index.signal.base import CachedGenerator, SidecarGenerator, SignalGenerator
from laya_index.signal.bm25 import count_fields, count_terms
from laya_index.signal.embedding import EmbeddingSignal
from laya_index.signal.multivector import FdeSignal, MultiVectorSignal
from laya_index.signal.sparse import CachedSparseSignal, SparseSignal
from laya_index.stack import ComposeBlock, Stack
from laya_index.trust import Trust, TrustPolicy

Vectors = list[tuple[bytes, NDArray[np.float32]]]


@dataclass(frozen=True, slots=True)
class Lexical:
    """The lexical signal's tokenizer and title weight, and the fields of BM25F."""

    tokenizer: Tokenizer
    title_weight: int
    fields: tuple[str, ...] = ()

    def postings(self, chunks: Sequence[Chunk]) -> pa.Table:
        """The terms of `chunks`, numbered from 0."""
        if self.fields:
            return count_fields(chunks, self.tokenizer, self.fields)
        return count_terms(chunks, self.tokenizer, self.title_weight)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The components of a stack, ready to be sent to a worker."""

    source_name: str
    redactor: Redactor | None
    chunker: Chunker
    context: Context | None
    trust: TrustPolicy
    lexical: Lexical | None
    generators: Mapping[str, SignalGenerator]
    graph: GraphStage | None
    cache: Path

    @classmethod
    def of(cls, stack: Stack, cache: Path) -> Pipeline:
        """Build every component; raises `StackError` naming the line of one that cannot be."""
        model = stack.model
        bm25 = model.signals.bm25
        return cls(
            source_name=model.source.provider,
            redactor=None if model.redact is None else stack.build(("redact",), Redactor),
            chunker=stack.build(("chunk",), Chunker),
            context=None if model.context is None else stack.build(("context",), Context),
            trust=stack.build(("trust",), TrustPolicy),
            lexical=None
            if bm25 is None
            else Lexical(
                stack.build(("signals", "bm25"), Tokenizer), bm25.title_weight, tuple(bm25.fields)
            ),
            generators=_generators(stack),
            graph=_graph(stack),
            cache=cache,
        )

    def sized_for(self, lengths: Iterable[int]) -> Pipeline:
        """The pipeline for documents of these lengths; ask before anything for the fingerprint."""
        if not isinstance(self.chunker, SizedByCorpus):
            return self
        return replace(self, chunker=self.chunker.sized_for(lengths))

    @property
    def fingerprints(self) -> dict[str, str]:
        """The fingerprint of every component, by stage."""
        found = {"chunk": self.chunker.fingerprint, "trust": self.trust.fingerprint}
        if self.context is not None:
            found["context"] = self.context.fingerprint
        if self.redactor is not None:
            found["redact"] = self.redactor.fingerprint
        if self.lexical is not None:
            found["bm25"] = self.lexical.tokenizer.fingerprint
            if self.lexical.fields:
                found["bm25f"] = fingerprint_of(self.lexical.fields)
        found.update({name: made.fingerprint for name, made in self.generators.items()})
        if self.graph is not None:
            found["graph"] = self.graph.fingerprint
        return dict(sorted(found.items()))

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same documents may give other rows."""
        weight = None if self.lexical is None else self.lexical.title_weight
        return rows_fingerprint(self.source_name, self.fingerprints, weight)

    def lead(self, document_id: str, heading_path: Sequence[str]) -> str:
        """What leads a passage in its signals; "" without context."""
        if self.context is None:
            return ""
        return self.context.lead(self.name(document_id), heading_path)

    def name(self, document_id: str) -> str:
        """What signals read of an id, which is an identity and itself stays as it is."""
        return redact(SourceDocument(document_id, document_id), self.redactor).text

    def encoder_text(
        self, document_id: str, title: str, heading_path: Sequence[str], content: str
    ) -> str:
        """What encoders read of a row of the chunk files: its key in the vector caches."""
        return led_text(self.lead(document_id, heading_path), title, content)

    @property
    def cached(self) -> dict[str, CachedGenerator]:
        """The generators whose vectors are kept between runs."""
        return {
            name: made
            for name, made in self.generators.items()
            if isinstance(made, CachedGenerator)
        }

    @property
    def sidecars(self) -> dict[str, SidecarGenerator]:
        """The generators that write a file beside the chunk files, by its kind."""
        made = self.generators.values()
        return {item.kind: item for item in made if isinstance(item, SidecarGenerator)}

    def cache_file(self, name: str) -> Path:
        """Where the vectors of a cached generator are kept."""
        return self.cache / f"vectors-{self.cached[name].cache_key}.sqlite"

    def vector_cache(self, name: str) -> VectorCache:
        """The cache of a cached generator."""
        made = self.cached[name]
        return VectorCache(self.cache_file(name), made.dimension, ragged=made.ragged)


def rows_fingerprint(
    source_name: str, fingerprints: Mapping[str, str], title_weight: int | None
) -> str:
    """Of everything but the documents that decides a bundle's rows.

    `fingerprints` are the components' by stage, `title_weight` the lexical signal's, None without.
    """
    return fingerprint_of([SCHEMA_VERSION, source_name, dict(fingerprints), title_weight])


def _generators(stack: Stack) -> dict[str, SignalGenerator]:
    """What the stack's signals add to the chunk rows, by name, in the order of their columns."""
    signals = stack.model.signals
    made: dict[str, SignalGenerator] = {}
    for name, block in signals.embeddings.items():
        encoder = stack.build(("signals", name), Encoder)
        made[name] = EmbeddingSignal(name, encoder, block.dtype)
    if signals.sparse is not None:
        made["sparse"] = _sparse(stack, signals.sparse.compose)
    if signals.multivector is not None:
        tokens = stack.build(("signals", "multivector"), MultiVectorEncoder)
        fde = None if signals.fde is None else stack.build(("signals", "fde"), FdeEncoder)
        if fde is None or signals.multivector.keep_multivectors:
            made["multivector"] = MultiVectorSignal(tokens, fde)
        else:
            made["multivector"] = FdeSignal(tokens, fde)
    for name in sorted(signals.columns):
        made[f"columns.{name}"] = stack.build(("signals", "columns", name), SignalGenerator)
    _check_names(stack, made)
    return made


def _sparse(stack: Stack, compose: ComposeBlock | None) -> SparseSignal:
    extractor = None
    if compose is not None and compose.entities is not None:
        extractor = stack.build(("signals", "sparse", "compose", "entities"), EntityExtractor)
    encoder = stack.build(("signals", "sparse"), SparseEncoder)
    kind = CachedSparseSignal if getattr(encoder, "costly", False) else SparseSignal
    return kind(encoder, compose, extractor)


def _graph(stack: Stack) -> GraphStage | None:
    block = stack.model.graph
    if block is None:
        return None
    features: dict[str, GraphFeature] = {}
    for index in range(len(block.features)):
        feature = stack.build(("graph", "features", index), GraphFeature)
        if feature.name in {*features, *node_columns([]).names}:
            raise StackError(
                f"{stack.file}: graph.features: the node file has a column {feature.name!r} already"
            )
        features[feature.name] = feature
    return GraphStage(
        extractor=stack.build(("graph",), EntityExtractor),
        features=tuple(features.values()),
        max_nodes=block.max_nodes,
        max_neighbors=block.max_neighbors,
        max_evidence=block.max_evidence,
    )


def _check_names(stack: Stack, made: Mapping[str, SignalGenerator]) -> None:
    """Refuse generators that would write the same column, or a file that nobody keeps track of."""
    taken = dict.fromkeys(CHUNK_COLUMNS.names, "every bundle")
    if stack.model.graph is not None:
        taken[HEADER_COLUMN] = "graph"
    kinds: dict[str, str] = {}
    for name, generator in made.items():
        if isinstance(generator, SidecarGenerator):
            kind = generator.kind
            if kind not in SIDECAR_KINDS or kind in kinds:
                raise StackError(
                    f"{stack.file}: signals.{name} writes {kind!r} files; there may be one signal "
                    f"for each of {', '.join(SIDECAR_KINDS)}, and no others"
                )
            kinds[kind] = name
        for column in pa.schema(generator.fields()).names:
            if column in taken:
                raise StackError(
                    f"{stack.file}: signals.{name} adds the column {column!r}, which "
                    f"{taken[column]} has already; name it otherwise"
                )
            taken[column] = f"signals.{name}"


@dataclass(frozen=True, slots=True)
class Part:
    """What the map stage makes of a batch of documents.

    `sidecars` are the tables of the files beside the chunk files, by kind; `vectors` the newly
    computed ones by generator, for the cache; `seconds` the time spent by stage.
    """

    documents: pa.Table
    chunks: pa.Table
    postings: pa.Table | None
    mentions: pa.Table | None = None
    sidecars: dict[str, pa.Table] = field(default_factory=dict)
    vectors: dict[str, Vectors] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickling an Arrow table forgets that the items of fixed-size lists are never null, and
        # with it the bytes that a run without workers writes. Arrow's own format does not.
        made = (self.documents, self.chunks, self.postings, self.mentions)
        tables = [_packed(table) for table in made]
        sidecars = {kind: _packed(table) for kind, table in self.sidecars.items()}
        return _unpacked, (tables, sidecars, self.vectors, self.seconds)


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
    sidecars: Mapping[str, bytes],
    vectors: dict[str, Vectors],
    seconds: dict[str, float],
) -> Part:
    documents, chunks, postings, mentions = (
        None if data is None else pa.ipc.open_stream(data).read_all() for data in tables
    )
    beside = {kind: pa.ipc.open_stream(data).read_all() for kind, data in sidecars.items()}
    return Part(documents, chunks, postings, mentions, beside, vectors, seconds)


def index_documents(pipeline: Pipeline, documents: Sequence[SourceDocument]) -> Part:
    """Redact, chunk, and compute the signals of `documents`, in the order given.

    A pure function of its arguments but for the vector cache, which only saves time.
    """
    clock = _Clock()
    redacted = [redact(document, pipeline.redactor) for document in documents]
    clock.stop("redact")
    trusts = [pipeline.trust.assign(document.id) for document in documents]
    chunked = [_chunks(document, pipeline) for document in redacted]
    chunks = [chunk for group in chunked for chunk in group]
    clock.stop("chunk")
    postings = None
    if pipeline.lexical is not None:
        postings = pipeline.lexical.postings(chunks)
        clock.stop("bm25")
    mentions = None
    if pipeline.graph is not None:
        named = [
            (document, pipeline.name(document.id), group)
            for document, group in zip(redacted, chunked, strict=True)
        ]
        mentions = count_mentions(named, pipeline.graph.extractor)
        clock.stop("graph")
    table = _chunk_table(pipeline, chunked, trusts)
    vectors: dict[str, Vectors] = {}
    # What is new is not in a cache yet, and two signals may share one (a column twice, once
    # rounded): by cache, then by key of the text.
    new: dict[str, dict[bytes, NDArray[np.float32]]] = {}
    sidecars: dict[str, pa.Table] = {}
    for name, generator in pipeline.generators.items():
        if isinstance(generator, CachedGenerator):
            shared = new.setdefault(generator.cache_key, {})
            found, vectors[name] = _vectors(pipeline, name, generator, chunks, shared)
            shared.update(vectors[name])
            columns = partial(generator.columns, vectors=found)
            arrays = _computed(name, columns, chunks)
            if isinstance(generator, SidecarGenerator):
                ids = [chunk.record_id for chunk in chunks]
                sidecars[generator.kind] = generator.sidecar(ids, found)
        else:
            arrays = _computed(name, generator.compute, chunks)
        table = _with_columns(table, name, generator.fields(), arrays)
        clock.stop(name)
    rows = _document_table(redacted, chunked, trusts)
    return Part(rows, table, postings, mentions, sidecars, vectors, clock.seconds)


def _chunks(document: RedactedDocument, pipeline: Pipeline) -> list[Chunk]:
    spans = pipeline.chunker.chunk(document)
    check_spans(document, spans)
    chunks = [
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
    if pipeline.context is None:
        return chunks
    return [LedChunk.of(chunk, pipeline.lead(document.id, chunk.heading_path)) for chunk in chunks]


def _vectors(
    pipeline: Pipeline,
    name: str,
    generator: CachedGenerator,
    chunks: Sequence[Chunk],
    shared: Mapping[bytes, NDArray[np.float32]],
) -> tuple[list[NDArray[np.float32]], Vectors]:
    """The vectors of `chunks`, one array each, and those that neither cache nor `shared` had."""
    keys = [text_key(chunk.encoder_text) for chunk in chunks]
    cache = pipeline.vector_cache(name)
    try:
        known = cache.get(sorted(set(keys)))
    finally:
        cache.close()
    known.update(shared)
    wanted = {key: chunk for key, chunk in zip(keys, chunks, strict=True) if key not in known}
    new: Vectors = []
    if wanted:
        try:
            fresh = generator.vectors([chunk.encoder_text for chunk in wanted.values()])
        except SignalError as error:
            raise _among(name, wanted.values(), error) from error
        for chunk, vector in zip(wanted.values(), fresh, strict=True):
            if not generator.usable(vector):
                raise SignalStageError(f"{name}: record {chunk.record_id!r} has no usable vector")
        new = list(zip(wanted, fresh, strict=True))
        known.update(new)
    return [known[key] for key in keys], new


def _computed(
    name: str, compute: Callable[[Sequence[Chunk]], Sequence[pa.Array]], chunks: Sequence[Chunk]
) -> Sequence[pa.Array]:
    try:
        return compute(chunks)
    except SignalError as error:
        raise _among(name, chunks, error) from error


def _among(name: str, chunks: Iterable[Chunk], error: SignalError) -> SignalStageError:
    names = ", ".join(chunk.record_id for chunk in chunks)
    return SignalStageError(f"{name}: among the records {names}: {error}")


def _with_columns(
    table: pa.Table, name: str, fields: Sequence[pa.Field], arrays: Sequence[pa.Array]
) -> pa.Table:
    """`table` with a generator's columns behind its own, held to what the generator promised."""
    if len(arrays) != len(fields):
        raise SignalStageError(f"{name}: {len(arrays)} arrays for {len(fields)} columns")
    for column, array in zip(fields, arrays, strict=True):
        if len(array) != table.num_rows or not array.type.equals(column.type):
            raise SignalStageError(
                f"{name}: column {column.name!r} is {len(array)} values of type {array.type}, "
                f"not {table.num_rows} of type {column.type}"
            )
        if not column.nullable and array.null_count:
            raise SignalStageError(f"{name}: column {column.name!r} has a null, which it excludes")
        table = table.append_column(column, array)
    return table


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
