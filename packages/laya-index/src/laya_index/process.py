"""The run: from a stack to a bundle."""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, Protocol

import pyarrow as pa
import pyarrow.parquet as pq
from laya_signals import ProviderBlock
from laya_signals.component import fingerprint_of

from laya_index.bundle.cache import cache_folder, keep_table, mentions_file, postings_file
from laya_index.bundle.lock import writer_lock
from laya_index.bundle.manifest import (
    Bm25Entry,
    Bm25FieldEntry,
    Counts,
    EmbeddingEntry,
    FileEntry,
    GraphEntry,
    Manifest,
    SignalEntry,
    StackEntry,
    read_manifest,
)
from laya_index.bundle.reader import BundleReader
from laya_index.bundle.schema import SKIPPED_COLUMNS
from laya_index.bundle.writer import BundleWriter
from laya_index.cache import text_key
from laya_index.document import Skipped, SourceDocument
from laya_index.engine.base import MapEngine
from laya_index.engine.local import LocalEngine
from laya_index.errors import BundleError, ManifestError, SourceError
from laya_index.graph.assemble import GraphStage
from laya_index.graph.mentions import join_mentions
from laya_index.graph.write import ShardFiles, write_graph
from laya_index.pipeline import Part, Pipeline, index_documents
from laya_index.redact.base import redact_skip
from laya_index.shard import Spool, shard_count, shard_inputs
from laya_index.signal.base import SidecarGenerator
from laya_index.signal.bm25 import merge, write_lexical
from laya_index.signal.multivector import TokenSignal
from laya_index.signal.sparse import SparseSignal
from laya_index.source.base import Source
from laya_index.source.files import FilesSource
from laya_index.stack import Bm25Block, GraphBlock, Stack

#: Documents per map task: small enough for a lively progress bar and little lost work on Ctrl-C.
#: Also the rows that are written together, so it decides a file's bytes.
BATCH_DOCUMENTS = 32
# A worker process costs about a second to start; fewer documents than this are not worth one.
_DOCUMENTS_PER_WORKER = 256


class Progress(Protocol):
    """What a run reports while it works."""

    def stage(self, name: str, total: int | None) -> None:
        """A stage begins; `total` documents are ahead, if that is known."""
        ...

    def advance(self, documents: int, chunks: int) -> None:
        """So many more are done in the current stage."""
        ...


class Silent:
    """Reports nothing."""

    def stage(self, name: str, total: int | None) -> None:
        """Do nothing."""

    def advance(self, documents: int, chunks: int) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did. Document counts are against the bundle that was there before.

    `skipped` counts documents by reason, `redactions` by kind; `seconds` is by stage, summed over
    workers, with the wall clock under `total`.
    """

    stack: str
    path: Path
    state: Literal["built", "unchanged", "dry run"]
    documents: int
    chunks: int
    added: int
    changed: int
    unchanged: int
    removed: int
    bytes: int
    skipped: dict[str, int]
    skips: list[Skipped]
    redactions: dict[str, int]
    seconds: dict[str, float]


def process(
    stack: Stack,
    *,
    engine: MapEngine | None = None,
    workers: int | None = None,
    full: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> RunReport:
    """Build or update the bundle of `stack`, and say what changed.

    The bundle's bytes depend on the documents and the stack alone: not on what was there before,
    on `workers`, on `engine`, or on `full`, which computes everything afresh. `workers` defaults
    to what the amount of work deserves. With `dry_run` nothing is written and only the document
    counts are filled in.

    Raises `StackError`, `SourceError`, `ChunkError`, `SignalStageError`, `BundleError` or
    `LockedError`; whatever is raised, the bundle that was there stays as it was.
    """
    path = stack.model.export.path
    cache = cache_folder(path)
    source = stack.build(("source",), Source)
    if isinstance(source, FilesSource):
        source.leave_out(path, cache)
    pipeline = Pipeline.of(stack, cache)
    progress = progress or Silent()
    if dry_run:
        with Spool() as spool:
            run = _Run(stack, path, cache, pipeline, full, progress)
            run.read(source, spool)
            return run.report("dry run", spool, None)
    with writer_lock(cache, path), Spool() as spool:
        # Behind the lock: what somebody deletes meanwhile would come back otherwise.
        run = _Run(stack, path, cache, pipeline, full, progress)
        run.read(source, spool)
        return run.build(spool, engine, workers)


@dataclass
class _Shard:
    """A shard on its way: what is known of it, and the parts that have come in."""

    index: int
    inputs: str
    documents: int
    parts: list[Part] = field(default_factory=list)
    received: int = 0


@dataclass(frozen=True)
class _Written:
    """A shard that is in the bundle; `sidecars` are the files beside its chunk file."""

    documents: FileEntry
    chunks: FileEntry
    sidecars: tuple[FileEntry, ...]


def _bm25_fields(block: Bm25Block, lengths: Mapping[str, float]) -> dict[str, Bm25FieldEntry]:
    """How each field of `block` counts; `lengths` are the fields' average ones."""
    return {
        name: Bm25FieldEntry(
            weight=field.weight,
            b=block.b if field.b is None else field.b,
            avg_len=lengths[name],
        )
        for name, field in block.fields.items()
    }


class _Run:
    def __init__(
        self,
        stack: Stack,
        path: Path,
        cache: Path,
        pipeline: Pipeline,
        full: bool,
        progress: Progress,
    ) -> None:
        self.stack = stack
        self.path = path
        self.cache = cache
        self.pipeline = pipeline
        self.full = full
        self.progress = progress
        self.started = time.perf_counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.skips: list[Skipped] = []
        #: Characters of every document that was read.
        self.lengths = array("Q")
        #: Whether a file of the bundle that is there turned out to be damaged.
        self.damaged = False
        #: Whether the chunker's settings follow from `lengths`.
        self.sized = False
        self.old, self.old_documents = self._previous()
        #: Documents that were deleted from the bundle that is there, and stay out of the new one.
        self.excluded = frozenset(() if self.old is None else self.old.excluded)

    def _previous(self) -> tuple[Manifest | None, dict[str, str]]:
        """The bundle that is there: its manifest, and the digest of each of its documents."""
        try:
            with BundleReader.open(self.path) as reader:
                table = reader.read("documents", ["document_id", "digest", "redactions"])
                ids, digests = (table[name].to_pylist() for name in ("document_id", "digest"))
                return reader.manifest, dict(zip(ids, digests, strict=True))
        except ManifestError as error:
            if not (self.path / "manifest.json").exists() or self.full:
                return None, {}
            raise BundleError(f"{error}; or remove the folder") from error
        except BundleError:
            # A damaged file is rebuilt like a missing one: the shard that it belongs to is redone.
            self.damaged = True
            try:
                return read_manifest(self.path), {}
            except ManifestError:
                return None, {}

    def read(self, source: Source, spool: Spool) -> None:
        begin = time.perf_counter()
        self.progress.stage("read", None)
        for item in source.read():
            if item.id in self.excluded:
                detail = "deleted from the bundle; `laya delete --restore` lifts that"
                self.skips.append(Skipped(item.id, "excluded", detail, recorded=False))
                continue
            if isinstance(item, Skipped):
                self.skips.append(redact_skip(item, self.pipeline.redactor))
                continue
            try:
                spool.add(item)
            except ValueError as error:
                raise SourceError(f"{self.stack.file}: {error}") from error
            self.lengths.append(len(item.text))
            self.progress.advance(1, 0)
        self.skips.sort(key=lambda skip: (skip.id, skip.reason))
        self.seconds["read"] += time.perf_counter() - begin

    def build(self, spool: Spool, engine: MapEngine | None, workers: int | None) -> RunReport:
        writer = BundleWriter(self.path)
        count = shard_count(len(spool.digests))
        sized = self.pipeline.sized_for(self.lengths)
        self.sized = sized.chunker is not self.pipeline.chunker
        self.pipeline = sized
        fingerprint = self.pipeline.fingerprint
        shards = [
            _Shard(
                index,
                shard_inputs(fingerprint, index, [(name, spool.digests[name]) for name in ids]),
                len(ids),
            )
            for index, ids in enumerate(spool.ids_by_shard(count))
            if ids or count == 1
        ]
        done: dict[int, _Written] = {}
        todo: list[_Shard] = []
        for shard in shards:
            written = None if self.full else self._reusable(shard)
            if written is None:
                todo.append(shard)
            else:
                done[shard.index] = written
        self._map(writer, spool, count, todo, done, engine, workers)
        begin = time.perf_counter()
        self.progress.stage("write", None)
        manifest = self._manifest(writer, shards, done)
        state: Literal["built", "unchanged"] = "unchanged"
        if self.old is None or manifest.to_json() != self.old.to_json() or self.full:
            writer.commit(manifest)
            self._prune(shards, manifest)
            state = "built"
        else:
            writer.clean(manifest.files)
        self.seconds["write"] += time.perf_counter() - begin
        return self.report(state, spool, manifest)

    def _reusable(self, shard: _Shard) -> _Written | None:
        """The shard's files from the bundle that is there, if they hold what it should hold."""
        if self.old is None:
            return None
        found = {
            entry.kind: entry
            for entry in self.old.files
            if entry.shard == shard.index and entry.shard_inputs == shard.inputs
        }
        beside = list(self.pipeline.sidecars)
        kinds = ("documents", "chunks", *beside)
        if not all(kind in found and self._intact(found[kind]) for kind in kinds):
            return None
        if self.pipeline.lexical is not None and not _is_parquet(self._postings(shard)):
            return None
        if self.pipeline.graph is not None and not _is_parquet(self._mentions(shard)):
            return None
        sidecars = tuple(found[kind] for kind in beside)
        return _Written(found["documents"], found["chunks"], sidecars)

    def _intact(self, entry: FileEntry) -> bool:
        try:
            with (self.path / entry.path).open("rb") as file:
                if os.fstat(file.fileno()).st_size != entry.bytes:
                    return False
                # Reading everything takes too long unless there is a reason to doubt it.
                return (
                    not self.damaged
                    or hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256
                )
        except OSError:
            return False

    def _postings(self, shard: _Shard) -> Path:
        return postings_file(self.cache, shard.index, shard.inputs)

    def _mentions(self, shard: _Shard) -> Path:
        return mentions_file(self.cache, shard.index, shard.inputs)

    def _map(
        self,
        writer: BundleWriter,
        spool: Spool,
        count: int,
        todo: Sequence[_Shard],
        done: dict[int, _Written],
        engine: MapEngine | None,
        workers: int | None,
    ) -> None:
        total = sum(shard.documents for shard in todo)
        self.progress.stage("index", total)
        if not todo:
            return
        caches = {name: self.pipeline.vector_cache(name) for name in self.pipeline.cached}
        if self.full:
            for cache in caches.values():
                cache.clear()
        wanted = workers or min(os.cpu_count() or 1, max(1, total // _DOCUMENTS_PER_WORKER))
        running = engine if engine is not None else LocalEngine(wanted)
        task: Callable[[tuple[int, list[SourceDocument]]], tuple[int, Part]]
        if engine is None and wanted == 1:
            task = _LocalTask(self.pipeline)
        else:
            task = _RemoteTask(pickle.dumps(self.pipeline))
        open_shards = {shard.index: shard for shard in todo}
        try:
            for index, part in running.map(task, _batches(spool, count, todo)):
                shard = open_shards[index]
                for name, vectors in part.vectors.items():
                    caches[name].put(vectors)
                shard.parts.append(part)
                shard.received += part.documents.num_rows
                for stage, spent in part.seconds.items():
                    self.seconds[stage] += spent
                self.progress.advance(part.documents.num_rows, part.chunks.num_rows)
                if shard.received == shard.documents:
                    done[index] = self._write_shard(writer, shard)
                    shard.parts.clear()
        finally:
            if engine is None:
                running.close()
            for cache in caches.values():
                cache.close()

    def _write_shard(self, writer: BundleWriter, shard: _Shard) -> _Written:
        begin = time.perf_counter()
        documents = pa.concat_tables([part.documents for part in shard.parts])
        chunks = pa.concat_tables([part.chunks for part in shard.parts])
        bases = accumulate((part.chunks.num_rows for part in shard.parts), initial=0)
        parts = list(zip(shard.parts, bases, strict=False))  # the last is the number of rows
        if self.pipeline.lexical is not None:
            postings = [(part.postings, base) for part, base in parts if part.postings is not None]
            keep_table(merge(postings), self._postings(shard))
        if self.pipeline.graph is not None:
            mentions = [(part.mentions, base) for part, base in parts if part.mentions is not None]
            keep_table(join_mentions(mentions), self._mentions(shard))
        written = _Written(
            writer.add_table(documents, "documents", shard=shard.index, inputs=shard.inputs),
            writer.add_table(chunks, "chunks", shard=shard.index, inputs=shard.inputs),
            tuple(
                writer.add_table(
                    pa.concat_tables([part.sidecars[kind] for part in shard.parts]),
                    kind,
                    shard=shard.index,
                    inputs=shard.inputs,
                )
                for kind in self.pipeline.sidecars
            ),
        )
        self.seconds["write"] += time.perf_counter() - begin
        return written

    def _manifest(
        self, writer: BundleWriter, shards: Sequence[_Shard], done: dict[int, _Written]
    ) -> Manifest:
        model = self.stack.model
        written = [done[shard.index] for shard in shards]
        graph: GraphEntry | None = None
        graph_files: list[FileEntry] = []
        if self.pipeline.graph is not None and model.graph is not None:
            stage = self.pipeline.graph
            written, graph, graph_files = self._graph(writer, shards, written, stage, model.graph)
        files = [item.documents for item in written] + [item.chunks for item in written]
        for beside in zip(*(item.sidecars for item in written), strict=True):
            files += beside
        chunks = sum(item.chunks.rows for item in written)
        bm25 = None
        terms = 0
        if self.pipeline.lexical is not None and model.signals.bm25 is not None:
            block = model.signals.bm25
            entries, average, lengths = self._lexical(writer, shards, written, chunks)
            files += entries
            terms = entries[0].rows
            bm25 = Bm25Entry(
                doc_count=chunks,
                avg_doc_len=average,
                k1=block.k1,
                b=block.b,
                title_weight=block.title_weight,
                tokenizer={"provider": block.provider, "config": block.config},
                tokenizer_fingerprint=self.pipeline.lexical.tokenizer.fingerprint,
                fields=_bm25_fields(block, lengths) if block.fields else None,
            )
        files += graph_files
        recorded = [skip for skip in self.skips if skip.recorded]
        if recorded:
            files.append(self._skipped(writer, recorded))
        tenants = model.trust.config.get("tenants")
        return Manifest(
            stack=StackEntry(name=model.name, hash=self.stack.hash),
            counts=Counts(
                documents=sum(item.documents.rows for item in written),
                chunks=chunks,
                terms=terms,
                skipped=_by_reason(recorded),
                redactions=self._redactions(written),
            ),
            components=self.pipeline.fingerprints,
            tenants=None if tenants is None else sorted(tenants),
            bm25=bm25,
            embeddings=self._embeddings(),
            signals=self._signals(),
            graph=graph,
            sized_by_corpus=self.sized,
            excluded=sorted(self.excluded),
            files=files,
        )

    def _embeddings(self) -> dict[str, EmbeddingEntry]:
        found = {}
        for name, block in self.stack.model.signals.embeddings.items():
            made = self.pipeline.cached[name]
            found[name] = EmbeddingEntry(
                provider=block.provider,
                config=block.config,
                # A query is encoded by the encoder; how the column rounds is no matter to it.
                fingerprint=made.cache_key,
                dimension=made.dimension,
                dtype=block.dtype,
            )
        return found

    def _signals(self) -> dict[str, SignalEntry]:
        """Every signal but BM25 and the embeddings: what made it, and where it is."""
        signals = self.stack.model.signals
        found: dict[str, SignalEntry] = {}

        def add(name: str, block: ProviderBlock, fingerprint: str, **more: Any) -> None:
            entry = {"provider": block.provider, "config": block.config}
            found[name] = SignalEntry(**entry, fingerprint=fingerprint, **more)

        for name, made in self.pipeline.generators.items():
            columns = pa.schema(made.fields()).names
            if isinstance(made, SparseSignal) and signals.sparse:
                add(
                    name,
                    signals.sparse,
                    # A query is encoded by the encoder, and composed as `compose` says.
                    made.encoder.fingerprint,
                    columns=columns,
                    dimension=made.encoder.dimension,
                    compose=made.composition,
                )
            elif isinstance(made, TokenSignal) and signals.multivector:
                kind = made.kind if isinstance(made, SidecarGenerator) else None
                tokens = made.tokens
                size = tokens.dimension
                add(name, signals.multivector, tokens.fingerprint, kind=kind, dimension=size)
                if made.fde and signals.fde:
                    size = made.width
                    add("fde", signals.fde, made.fde.fingerprint, columns=columns, dimension=size)
            elif name.startswith("columns."):
                block = signals.columns[name.removeprefix("columns.")]
                add(name, block, made.fingerprint, columns=columns)
        return found

    def _lexical(
        self,
        writer: BundleWriter,
        shards: Sequence[_Shard],
        written: Sequence[_Written],
        chunks: int,
    ) -> tuple[list[FileEntry], float, dict[str, float]]:
        """The two lexical files, kept when no chunk moved, and the average lengths."""
        inputs = fingerprint_of([shard.inputs for shard in shards])
        if self.old is not None and self.old.bm25 is not None:
            kept = self._kept(("bm25-terms", "bm25-postings"), inputs)
            if len(kept) == 2:
                known = self.old.bm25.fields or {}
                lengths = {name: entry.avg_len for name, entry in known.items()}
                return kept, self.old.bm25.avg_doc_len, lengths
        parts: list[tuple[Path, int]] = []
        base = 0
        for shard, item in zip(shards, written, strict=True):
            parts.append((self._postings(shard), base))
            base += item.chunks.rows
        try:
            fields = () if self.pipeline.lexical is None else self.pipeline.lexical.fields
            files = write_lexical(writer, parts, chunks, inputs=inputs, fields=fields)
        except (pa.ArrowException, OSError) as error:
            raise BundleError(
                f"cannot use the cache {str(self.cache)!r}: {error}; delete it and run again"
            ) from error
        return [files.terms, files.postings], files.average_length, files.field_lengths

    def _kept(self, kinds: Sequence[str], inputs: str) -> list[FileEntry]:
        """The files of these kinds that are there and hold what they should hold."""
        if self.old is None or self.full:
            return []
        return [
            entry
            for kind in kinds
            for entry in self.old.of_kind(kind)
            if entry.inputs == inputs and self._intact(entry)
        ]

    def _graph(
        self,
        writer: BundleWriter,
        shards: Sequence[_Shard],
        written: Sequence[_Written],
        stage: GraphStage,
        block: GraphBlock,
    ) -> tuple[list[_Written], GraphEntry, list[FileEntry]]:
        """The shards with their headers, and the two graph files, kept when no chunk moved."""
        begin = time.perf_counter()
        inputs = fingerprint_of([shard.inputs for shard in shards])
        whole = all(
            item.chunks.inputs != shard.inputs for shard, item in zip(shards, written, strict=True)
        )
        kept = self._kept(("graph-nodes", "graph-edges"), inputs) if whole else []
        if self.old is not None and self.old.graph is not None and len(kept) == 2:
            nodes, edges = kept
            communities = self.old.graph.communities
        else:
            graph = write_graph(
                writer,
                stage,
                [
                    ShardFiles(shard.index, shard.inputs, item.chunks, self._mentions(shard))
                    for shard, item in zip(shards, written, strict=True)
                ],
                inputs=inputs,
            )
            written = [
                replace(item, chunks=chunks)
                for item, chunks in zip(written, graph.chunks, strict=True)
            ]
            nodes, edges, communities = graph.nodes, graph.edges, graph.communities
        entry = GraphEntry(
            provider=block.provider,
            config=block.config,
            fingerprint=stage.fingerprint,
            features=[feature.model_dump() for feature in block.features],
            max_nodes=block.max_nodes,
            max_neighbors=block.max_neighbors,
            max_evidence=block.max_evidence,
            centrality=stage.features[0].name,
            nodes=nodes.rows,
            edges=edges.rows,
            communities=communities,
        )
        spent = time.perf_counter() - begin
        self.seconds["graph"] += spent
        self.seconds["write"] -= spent  # the caller's stage, which this time is part of
        return list(written), entry, [nodes, edges]

    def _skipped(self, writer: BundleWriter, skips: Sequence[Skipped]) -> FileEntry:
        rows = [(s.id, s.reason, s.detail, s.bytes, s.digest) for s in skips]
        inputs = fingerprint_of(rows)
        for entry in [] if self.old is None or self.full else self.old.of_kind("skipped"):
            if entry.inputs == inputs and self._intact(entry):
                return entry
        columns = [list(column) for column in zip(*rows, strict=True)]
        return writer.add_table(pa.table(columns, schema=SKIPPED_COLUMNS), "skipped", inputs=inputs)

    def _redactions(self, written: Sequence[_Written]) -> dict[str, int]:
        total: Counter[str] = Counter()
        for item in written:
            table = pq.read_table(self.path / item.documents.path, columns=["redactions"])
            for row in table["redactions"].to_pylist():
                total.update(dict(row))
        return dict(sorted(total.items()))

    def _prune(self, shards: Sequence[_Shard], manifest: Manifest) -> None:
        """Drop from the cache what this bundle has no use for."""
        kept = {self._postings(shard).name for shard in shards}
        for folder in ("postings", "mentions"):
            for path in (self.cache / folder).glob("*"):
                if path.name not in kept:
                    path.unlink(missing_ok=True)
        current = {self.pipeline.cache_file(name).name for name in self.pipeline.cached}
        for path in self.cache.glob("vectors-*"):
            if path.name.removesuffix("-wal").removesuffix("-shm") not in current:
                path.unlink(missing_ok=True)
        for name in self.pipeline.cached:
            cache = self.pipeline.vector_cache(name)
            try:
                if len(cache) > 1.5 * manifest.counts.chunks:
                    cache.keep_only(self._vector_keys(manifest))
            finally:
                cache.close()

    def _vector_keys(self, manifest: Manifest) -> Iterator[bytes]:
        for entry in manifest.of_kind("chunks"):
            columns = ["document_id", "title", "heading_path", "content"]
            table = pq.read_table(self.path / entry.path, columns=columns)
            for row in zip(*(table[name].to_pylist() for name in columns), strict=True):
                yield text_key(self.pipeline.encoder_text(*row))

    def report(
        self,
        state: Literal["built", "unchanged", "dry run"],
        spool: Spool,
        manifest: Manifest | None,
    ) -> RunReport:
        old, new = self.old_documents, spool.digests
        both = old.keys() & new.keys()
        unchanged = sum(old[name] == new[name] for name in both)
        self.seconds["total"] = time.perf_counter() - self.started
        return RunReport(
            stack=self.stack.model.name,
            path=self.path,
            state=state,
            documents=len(new),
            chunks=0 if manifest is None else manifest.counts.chunks,
            added=len(new.keys() - old.keys()),
            changed=len(both) - unchanged,
            unchanged=unchanged,
            removed=len(old.keys() - new.keys()),
            bytes=0 if manifest is None else sum(entry.bytes for entry in manifest.files),
            skipped=_by_reason(self.skips),
            skips=self.skips,
            redactions={} if manifest is None else manifest.counts.redactions,
            seconds=dict(self.seconds),
        )


def _batches(
    spool: Spool, count: int, shards: Sequence[_Shard]
) -> Iterator[tuple[int, list[SourceDocument]]]:
    for shard in shards:
        documents = spool.shard(shard.index, count)
        for start in range(0, max(1, len(documents)), BATCH_DOCUMENTS):
            yield shard.index, documents[start : start + BATCH_DOCUMENTS]


def _is_parquet(path: Path) -> bool:
    try:
        pq.read_metadata(path)
    except (OSError, pa.ArrowException):
        return False
    return True


def _by_reason(skips: Sequence[Skipped]) -> dict[str, int]:
    return dict(sorted(Counter(skip.reason for skip in skips).items()))


@dataclass(frozen=True)
class _LocalTask:
    """Runs the map stage in this process."""

    pipeline: Pipeline

    def __call__(self, item: tuple[int, list[SourceDocument]]) -> tuple[int, Part]:
        index, documents = item
        return index, index_documents(self.pipeline, documents)


@dataclass(frozen=True)
class _RemoteTask:
    """Runs the map stage in a worker, which builds the pipeline (and loads its models) once."""

    payload: bytes

    def __call__(self, item: tuple[int, list[SourceDocument]]) -> tuple[int, Part]:
        index, documents = item
        return index, index_documents(_pipeline(self.payload), documents)


@lru_cache(maxsize=1)
def _pipeline(payload: bytes) -> Pipeline:
    loaded: Pipeline = pickle.loads(payload)  # noqa: S301 - made by the process that started us
    return loaded
