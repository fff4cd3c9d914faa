"""A bundle into a store: new rows beside the old ones, then one switch.

Rows go into collections or tables that are named by the corpus's identity, so that a push which was
cut short is found again and continued, and readers keep what they opened until the name points to
the new corpus. What has to be written anew is everything: BM25 weights depend on all documents.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from laya_index.bundle.manifest import Bm25Entry, Manifest
from laya_index.bundle.reader import BundleReader
from laya_index.bundle.schema import FDE_COLUMN
from laya_index.process import Progress, Silent
from laya_retrieval.guard import TrustFilter
from laya_signals.bm25 import inverse_document_frequency
from numpy.typing import NDArray

from laya_rag.backend.build import FIELDS, HEADER
from laya_rag.backend.bundle import identity_of
from laya_rag.backend.lexical import Weighting
from laya_rag.backend.models import leg_of
from laya_rag.backend.scope import Scope
from laya_rag.backend.store import Header, Target
from laya_rag.errors import StoreError

Kind: TypeAlias = Literal["chunks", "documents", "terms"]
KINDS: tuple[Kind, ...] = ("chunks", "documents", "terms")


@dataclass(frozen=True, slots=True)
class ScopeWeights:
    """The BM25 weights of the chunks that somebody with certain rights sees, as if alone.

    `rows` are those chunks, ascending; the terms of `rows[i]` and their weights are at
    `offsets[i]:offsets[i + 1]`.
    """

    number: int
    rows: NDArray[np.int64]
    offsets: NDArray[np.int64]
    terms: NDArray[np.int64]
    weights: NDArray[np.float32]

    def of(self, row: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Term numbers, ascending, and weights of a chunk; empty for one that is not seen."""
        place = int(np.searchsorted(self.rows, row))
        if place == len(self.rows) or self.rows[place] != row:
            return self.terms[:0], self.weights[:0]
        span = slice(int(self.offsets[place]), int(self.offsets[place + 1]))
        return self.terms[span], self.weights[span]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A bundle's rows, ready to be pushed; chunks are numbered by ascending record id."""

    header: Header
    manifest: Manifest
    chunks: pa.Table
    documents: pa.Table
    terms: list[str]
    scopes: list[ScopeWeights]

    @property
    def columns(self) -> list[str]:
        """The columns of chunks that are neither vectors nor weights."""
        others = {*self.header.vectors.values(), FDE_COLUMN, "sparse_indices", "sparse_values"}
        return [name for name in self.chunks.column_names if name not in others]

    @property
    def version(self) -> str:
        """The part of the identity that names the corpus's collection or tables."""
        return self.header.identity[:16]

    def count(self, kind: Kind) -> int:
        """Rows of a kind."""
        rows = {"chunks": self.chunks, "documents": self.documents, "terms": self.terms}
        return len(rows[kind])


@dataclass(frozen=True, slots=True)
class PushReport:
    """What a push did: `rows` by kind, of which `written` in this run and the others before."""

    target: str
    identity: str
    state: Literal["pushed", "unchanged"]
    rows: Mapping[Kind, int]
    written: Mapping[Kind, int]
    removed: tuple[str, ...]


class Sink(ABC):
    """A store that a corpus is written to, `batch` rows at a time."""

    batch = 256

    @abstractmethod
    def current(self) -> str | None:
        """The identity of the corpus that readers see, None without one."""

    @abstractmethod
    def begin(self, corpus: Corpus) -> None:
        """Make place for the corpus, or find the place that an earlier push made."""

    @abstractmethod
    def done(self, kind: Kind) -> int:
        """Rows of a kind that are there already, counted from the first; it may be too many."""

    @abstractmethod
    def write(self, corpus: Corpus, kind: Kind, start: int, stop: int) -> None:
        """Write rows `start:stop` of a kind; the same rows may come a second time."""

    @abstractmethod
    def publish(self, corpus: Corpus) -> tuple[str, ...]:
        """Let readers see the corpus, remove what it replaces, and name that."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the store."""


def open_sink(target: Target) -> Sink:
    """The store of `target`, to write to."""
    if target.kind == "qdrant":
        from laya_rag.backend.qdrant import QdrantSink

        return QdrantSink(target)
    from laya_rag.backend.lancedb import LanceDbSink

    return LanceDbSink(target)


def push(
    bundle: Path,
    target: Target,
    *,
    sink: Sink | None = None,
    progress: Progress | None = None,
) -> PushReport:
    """Write the bundle in folder `bundle` to `target`, and let its readers see it.

    `sink` writes there, for who has a client of the store already.

    A push that was cut short is continued; one of a corpus that is there already does nothing.
    One push at a time to a target: a second one's rows may be taken for leftovers.

    Raises `BundleError` when the bundle cannot be read, `MissingExtraError` without the store's
    client, and `StoreError` when the store cannot be reached or is something else than a push left
    there; readers then see what they saw.
    """
    tell = progress or Silent()
    tell.stage("read", None)
    with BundleReader.open(bundle) as reader:
        corpus = read_corpus(reader)
    sink = open_sink(target) if sink is None else sink
    written = dict.fromkeys(KINDS, 0)
    rows = {kind: corpus.count(kind) for kind in KINDS}
    try:
        if sink.current() == corpus.header.identity:
            return _report(target, corpus, "unchanged", rows, written, ())
        sink.begin(corpus)
        for kind in KINDS:
            tell.stage(kind, rows[kind])
            start = min(sink.done(kind), rows[kind])
            if start < rows[kind]:
                # Whatever was cut short lies behind the last whole batch.
                start = start // sink.batch * sink.batch
            tell.advance(start, 0)
            for first in range(start, rows[kind], sink.batch):
                last = min(first + sink.batch, rows[kind])
                sink.write(corpus, kind, first, last)
                written[kind] += last - first
                tell.advance(last - first, 0)
        tell.stage("publish", None)
        removed = sink.publish(corpus)
    finally:
        sink.close()
    return _report(target, corpus, "pushed", rows, written, removed)


def _report(
    target: Target,
    corpus: Corpus,
    state: Literal["pushed", "unchanged"],
    rows: Mapping[Kind, int],
    written: Mapping[Kind, int],
    removed: tuple[str, ...],
) -> PushReport:
    return PushReport(str(target), corpus.header.identity, state, rows, written, removed)


def read_corpus(reader: BundleReader) -> Corpus:
    """Everything that is pushed of a bundle; all of it is held in memory at once.

    Raises `StoreError` for a bundle without passages.
    """
    manifest = reader.manifest
    chunks, fields = _flat(reader.read("chunks"))
    order = pc.sort_indices(chunks["record_id"])
    chunks = chunks.take(order).combine_chunks()
    if not chunks.num_rows:
        raise StoreError(f"bundle {str(reader.path)!r} has no passages to push")
    terms: list[str] = []
    scopes: list[ScopeWeights] = []
    numbers: dict[str, dict[str, int]] = {}
    if manifest.bm25 is not None:
        terms, scopes, numbers = _lexical(reader, manifest.bm25, chunks, order.to_numpy())
    header = Header(
        identity=identity_of(manifest),
        manifest=manifest.to_json(),
        fields=fields,
        vectors={leg_of(column): column for column in manifest.embeddings},
        scopes=numbers,
        terms=len(terms),
    )
    documents = reader.read("documents")
    shown = documents.take(pc.indices_nonzero(documents["chunks"]))
    return Corpus(header, manifest, chunks, shown.sort_by("document_id"), terms, scopes)


def _flat(chunks: pa.Table) -> tuple[pa.Table, dict[str, str]]:
    """The chunks, what filters name in them, and its kind.

    The graph's header becomes columns of their own, as filters name them.
    """
    names = list(FIELDS)
    # The only column that can hold more than the 2 GiB which one array of plain strings takes.
    place = chunks.column_names.index("content")
    chunks = chunks.set_column(place, "content", chunks["content"].cast(pa.large_string()))
    if HEADER in chunks.column_names:
        header = chunks[HEADER]
        for field, column in zip(header.type, header.flatten(), strict=True):
            chunks = chunks.append_column(field, column)
            names.append(field.name)
        chunks = chunks.drop_columns([HEADER])
    kinds = {name: _kind(chunks.schema.field(name).type) for name in names}
    return chunks, {name: kind for name, kind in kinds.items() if kind is not None}


def _kind(kind: pa.DataType, *, listed: bool = False) -> str | None:
    """What filters call a type; None for one that they cannot name."""
    if pa.types.is_list(kind) and not listed:
        inner = _kind(kind.value_type, listed=True)
        return None if inner is None else f"{inner}s"
    if pa.types.is_string(kind):
        return "text"
    # Single numbers are whole ones, which is what their comparisons count on.
    if pa.types.is_integer(kind) or (listed and pa.types.is_floating(kind)):
        return "number"
    return None


def _lexical(
    reader: BundleReader, entry: Bm25Entry, chunks: pa.Table, order: NDArray[np.integer]
) -> tuple[list[str], list[ScopeWeights], dict[str, dict[str, int]]]:
    """Terms, the weights of every scope, and which scope holds for whom.

    `chunks` are in the order in which they are pushed, `order` are their rows in the bundle.
    """
    postings = reader.read("bm25-postings").combine_chunks()
    ordinals = postings["ordinals"].combine_chunks()
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    rows = places[_flat_list(postings["ordinals"])]
    terms = np.repeat(np.arange(postings.num_rows), ordinals.value_lengths().to_numpy())
    by_row = np.argsort(rows, kind="stable")
    rows, terms = rows[by_row], terms[by_row]
    weighting = Weighting.of(entry)
    counts = {
        name: _flat_list(postings[f"{name}_frequencies" if name else "frequencies"])[by_row]
        for name in weighting.fields
    }
    lengths = {
        name: np.bincount(rows, weights=values, minlength=chunks.num_rows).astype(np.int64)
        for name, values in counts.items()
    }
    scopes: list[ScopeWeights] = []
    numbers: dict[str, dict[str, int]] = {}
    known: dict[bytes, int] = {}
    for (tier, tenant), mask in _masks(reader.manifest, chunks):
        key = np.packbits(mask).tobytes()
        if key not in known:
            known[key] = len(scopes)
            seen = mask[rows]
            df = np.bincount(terms[seen], minlength=postings.num_rows)
            scope = Scope.of(mask, lengths)
            idf = inverse_document_frequency(df, scope.count)
            saturations = weighting.saturations(
                {name: values[seen] for name, values in counts.items()},
                {name: values[rows[seen]] for name, values in lengths.items()},
                scope,
            )
            members = np.flatnonzero(mask)
            scopes.append(
                ScopeWeights(
                    number=len(scopes),
                    rows=members,
                    offsets=np.append(np.searchsorted(rows[seen], members), int(seen.sum())),
                    terms=terms[seen],
                    weights=(idf[terms[seen]] * saturations).astype(np.float32),
                )
            )
        numbers.setdefault(tier, {})[tenant] = known[key]
    return postings["term"].to_pylist(), scopes, numbers


def _flat_list(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """The values of all lists of a column, one after the other."""
    values: NDArray[np.uint32] = column.combine_chunks().flatten().to_numpy()
    return values.astype(np.int64)


def _masks(
    manifest: Manifest, chunks: pa.Table
) -> Iterator[tuple[tuple[str, str], NDArray[np.bool_]]]:
    """Which chunks each least tier and tenant permits, where it permits any; "" is all tenants."""
    tiers = np.array(chunks["trust_tier"].to_pylist(), dtype=object)
    tenants: Sequence[list[str] | None] = chunks["tenants"].to_pylist()
    owned = {
        name: np.fromiter((name in (own or ()) for own in tenants), bool, len(tenants))
        for name in manifest.tenants or ()
    }
    for tier in TrustFilter().tiers:
        allowed = TrustFilter(tier).expression.to_json()["trust_tier"]["in"]
        trusted = np.isin(tiers, allowed)
        for name, mask in (("", np.ones(len(tenants), bool)), *owned.items()):
            if (trusted & mask).any():
                yield (tier, name), trusted & mask


def chunk_rows(corpus: Corpus, start: int, stop: int) -> list[dict[str, Any]]:
    """The columns of chunks but for vectors and sparse weights."""
    table = corpus.chunks.select(corpus.columns).slice(start, stop - start)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def document_rows(corpus: Corpus, start: int, stop: int) -> list[dict[str, Any]]:
    """Documents by ascending id, each with its place in that order; metadata as JSON."""
    table = corpus.documents.drop_columns(["digest", "redactions"]).slice(start, stop - start)
    return [
        {**row, "place": place, "metadata": json.dumps(dict(row["metadata"]), ensure_ascii=False)}
        for place, row in enumerate(table.to_pylist(), start)
    ]


def matrix(corpus: Corpus, column: str, start: int, stop: int) -> NDArray[np.float32]:
    """Vectors of chunks, `(stop - start, d)` float32."""
    array = corpus.chunks[column].slice(start, stop - start).combine_chunks()
    flat: NDArray[np.float32] = array.flatten().to_numpy(zero_copy_only=False).astype(np.float32)
    return flat.reshape(stop - start, corpus.manifest.embeddings[column].dimension)
