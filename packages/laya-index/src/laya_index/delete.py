"""Documents out of a bundle, without their sources.

What is left is byte for byte the bundle that a run over a source without these documents builds,
and it lists their ids: the next `process` leaves them out although the source still has them.

No document is looked at again. Rows of the shards that lose a document, or that are joined because
the corpus became small enough, are copied from the bundle's own files; their postings are read off
the bundle's; everything else is kept. A graph is put together again from what the cache says that
the documents mention.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from laya_signals import SignalError
from laya_signals.component import fingerprint_of
from numpy.typing import NDArray

from laya_index.bundle.cache import cache_folder, keep_table, mentions_file, postings_file
from laya_index.bundle.lock import writer_lock
from laya_index.bundle.manifest import (
    Bm25Entry,
    FileEntry,
    GraphEntry,
    Manifest,
    read_manifest,
)
from laya_index.bundle.reader import BundleReader
from laya_index.bundle.schema import HEADER_COLUMN, SIDECAR_KINDS, posting_columns
from laya_index.bundle.writer import BundleWriter
from laya_index.errors import BundleError, UnknownDocumentError
from laya_index.graph.assemble import GraphStage
from laya_index.graph.entity import EntityExtractor
from laya_index.graph.features import GraphFeature
from laya_index.graph.mentions import MENTION_COLUMNS, read_mentions
from laya_index.graph.write import GraphFiles, ShardFiles, write_graph
from laya_index.patterns import spec_of
from laya_index.pipeline import rows_fingerprint
from laya_index.process import (
    BATCH_DOCUMENTS,
    Progress,
    Silent,
)
from laya_index.registry import registry
from laya_index.shard import ids_by_shard, shard_count, shard_inputs
from laya_index.signal.bm25 import LexicalFiles, write_lexical

# What a bundle may consist of for us to know how it looks without some of its documents.
_SHARDED = ("documents", "chunks", *SIDECAR_KINDS)
_LEXICAL = ("bm25-terms", "bm25-postings")
_GRAPH = ("graph-nodes", "graph-edges")
_KNOWN = (*_SHARDED, *_LEXICAL, *_GRAPH, "skipped")
Rows: TypeAlias = NDArray[np.int64]

_ELSE = "put them on the list only (--next-run) and run `laya process`"


@dataclass(frozen=True, slots=True)
class DeleteReport:
    """What `delete` or `restore` did, or with `dry_run` would do.

    `deleted` left the bundle; `listed` were out of it already, or came onto the list of exclusions
    without being in it; `restored` left that list. `excluded` is the list as it is now. `documents`
    and `chunks` are what the bundle holds now.
    """

    path: Path
    state: Literal["changed", "unchanged", "dry run"]
    deleted: tuple[str, ...]
    listed: tuple[str, ...]
    restored: tuple[str, ...]
    excluded: tuple[str, ...]
    documents: int
    chunks: int


def delete(
    bundle: Path,
    ids: Collection[str] = (),
    *,
    patterns: Sequence[str] = (),
    next_run: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> DeleteReport:
    """Take documents out of the bundle in folder `bundle`, by id or by pattern, and keep them out.

    `patterns` are those of a `.gitignore` file, matched against ids; they choose among the
    documents that are there now. An id that was deleted before is no error. With `next_run` the
    documents only come onto the list of exclusions, and the next `process` takes them out.

    Raises `UnknownDocumentError` naming an id or a pattern without a document, `LockedError` when
    another process writes the bundle, and `BundleError` when it cannot be read or when it holds
    something that depends on all documents together: passages sized by the corpus, or a graph whose
    documents' mentions are not in the cache. Whatever is raised, the bundle stays as it was.
    """
    read_manifest(bundle)
    tell = progress or Silent()
    if dry_run:
        with BundleReader.open(bundle) as reader:
            return _Deletion(reader, ids, patterns, tell, next_run=next_run).report("dry run")
    with writer_lock(cache_folder(bundle), bundle), BundleReader.open(bundle) as reader:
        return _Deletion(reader, ids, patterns, tell, next_run=next_run).run()


def restore(bundle: Path, ids: Collection[str], *, dry_run: bool = False) -> DeleteReport:
    """Take ids off the bundle's list of exclusions: the next `process` indexes them again.

    Raises `UnknownDocumentError` naming one that is not on the list, otherwise as `delete` does.
    """
    manifest = read_manifest(bundle)
    if not dry_run:
        with writer_lock(cache_folder(bundle), bundle):
            manifest = _lifted(read_manifest(bundle), ids)
            BundleWriter(bundle).commit(manifest)
    else:
        manifest = _lifted(manifest, ids)
    return DeleteReport(
        bundle,
        "dry run" if dry_run else "changed",
        deleted=(),
        listed=(),
        restored=tuple(sorted(set(ids))),
        excluded=tuple(manifest.excluded),
        documents=manifest.counts.documents,
        chunks=manifest.counts.chunks,
    )


def _lifted(manifest: Manifest, ids: Collection[str]) -> Manifest:
    if unknown := sorted(set(ids) - set(manifest.excluded)):
        raise UnknownDocumentError(
            f"{unknown[0]!r} is not among the {len(manifest.excluded)} documents that were deleted"
        )
    left = [name for name in manifest.excluded if name not in set(ids)]
    return manifest.model_copy(update={"excluded": left})


@dataclass(frozen=True)
class _Shard:
    """A shard of the new bundle: its documents, and which of the old ones it is made from."""

    index: int
    ids: tuple[str, ...]
    inputs: str
    sources: range


class _Deletion:
    def __init__(
        self,
        reader: BundleReader,
        ids: Collection[str],
        patterns: Sequence[str],
        progress: Progress,
        *,
        next_run: bool,
    ) -> None:
        self.path = reader.path
        self.cache = cache_folder(reader.path)
        self.reader = reader
        self.manifest = reader.manifest
        self.progress = progress
        bm25 = self.manifest.bm25
        #: Those that postings tell apart, with BM25F.
        self.fields = tuple((bm25.fields if bm25 is not None else None) or ())
        table = reader.read("documents", ["document_id", "digest", "chunks"])
        names, digests, chunks = (
            table[name].to_pylist() for name in ("document_id", "digest", "chunks")
        )
        self.digests: dict[str, str] = dict(zip(names, digests, strict=True))
        self.chunks: dict[str, int] = dict(zip(names, chunks, strict=True))
        wanted = self._wanted(ids, patterns)
        gone = set() if next_run else wanted & self.digests.keys()
        self.gone = sorted(gone)
        self.listed = sorted(wanted - gone)
        self.kept = sorted(self.digests.keys() - gone)
        self.excluded = sorted({*self.manifest.excluded, *wanted})
        self.stage: GraphStage | None = None
        if self.gone:
            self._check_independent()
            if self.manifest.graph is not None:
                self._check_mentions()
                self.stage = _stage(self.manifest.graph, self.path)

    def _wanted(self, ids: Collection[str], patterns: Sequence[str]) -> set[str]:
        known = {*self.digests, *self.manifest.excluded}
        for name in ids:
            if name not in known:
                raise UnknownDocumentError(f"bundle {str(self.path)!r} has no document {name!r}")
        wanted = set(ids)
        for pattern in patterns:
            try:
                spec = spec_of([pattern])
            except ValueError as error:
                raise UnknownDocumentError(str(error)) from error
            found = {name for name in known if spec.match_file(name)}
            if not found:
                raise UnknownDocumentError(
                    f"bundle {str(self.path)!r} has no document that matches {pattern!r}"
                )
            wanted |= found
        return wanted

    def _check_independent(self) -> None:
        """Refuse a bundle in which a document's rows may depend on the others."""
        where = f"{str(self.path)!r} cannot lose single documents"
        if self.manifest.sized_by_corpus:
            raise BundleError(
                f"{where}: its passages are as long as the corpus's documents suggest "
                f"(chars: auto), and other documents may suggest another length; {_ELSE}"
            )
        other = sorted({entry.kind for entry in self.manifest.files} - set(_KNOWN))
        if other:
            raise BundleError(f"{where}: it has {other[0]} files, made from all documents; {_ELSE}")

    def _check_mentions(self) -> None:
        """Refuse a graph whose mentions the cache has lost: the bundle itself has only some."""
        for entry in self.manifest.of_kind("chunks"):
            path = self._old_mentions(entry)
            if not path.exists():
                raise BundleError(
                    f"{str(self.path)!r} cannot lose single documents: its graph is put together "
                    f"from what its documents mention, and {str(path)!r}, where the cache kept "
                    f"that, is gone; run `laya process` first, or {_ELSE}"
                )

    def _old_mentions(self, entry: FileEntry) -> Path:
        """Where the cache keeps what the passages in this chunk file mention."""
        return mentions_file(self.cache, entry.shard or 0, entry.shard_inputs or "")

    def run(self) -> DeleteReport:
        writer = BundleWriter(self.path)
        if not self.gone:
            if self.excluded == self.manifest.excluded:
                return self.report("unchanged")
            writer.commit(self.manifest.model_copy(update={"excluded": self.excluded}))
            return self.report("changed")
        shards = self._shards()
        files = {shard.index: self._files(writer, shard) for shard in shards}
        update: dict[str, object] = {"excluded": self.excluded}
        graph_files: list[FileEntry] = []
        if self.stage is not None and self.manifest.graph is not None:
            graph = self._graph(writer, self.stage, shards, files)
            for shard, headed in zip(shards, graph.chunks, strict=True):
                files[shard.index]["chunks"] = headed
            graph_files = [graph.nodes, graph.edges]
            update["graph"] = self.manifest.graph.model_copy(
                update={
                    "nodes": graph.nodes.rows,
                    "edges": graph.edges.rows,
                    "communities": graph.communities,
                }
            )
        sidecars = [kind for kind in SIDECAR_KINDS if self.manifest.of_kind(kind)]
        entries = [
            files[shard.index][kind]
            for kind in ("documents", "chunks", *sidecars)
            for shard in shards
        ]
        chunks = sum(files[shard.index]["chunks"].rows for shard in shards)
        counts = {
            "documents": len(self.kept),
            "chunks": chunks,
            "redactions": self._redactions(files[shard.index]["documents"] for shard in shards),
        }
        if self.manifest.bm25 is not None:
            lexical = self._lexical(writer, shards, files, chunks)
            entries += [lexical.terms, lexical.postings]
            counts["terms"] = lexical.terms.rows
            update["bm25"] = _measured(self.manifest.bm25, chunks, lexical)
        entries += graph_files
        entries += self.manifest.of_kind("skipped")
        update["counts"] = self.manifest.counts.model_copy(update=counts)
        manifest = self.manifest.model_copy(update={**update, "files": entries})
        self.progress.stage("write", None)
        writer.commit(manifest)
        current = {postings_file(self.cache, shard.index, shard.inputs).name for shard in shards}
        for folder in ("postings", "mentions"):
            for path in (self.cache / folder).glob("*"):
                if path.name not in current:
                    path.unlink(missing_ok=True)
        return self.report("changed")

    def report(self, state: Literal["changed", "unchanged", "dry run"]) -> DeleteReport:
        return DeleteReport(
            self.path,
            state,
            deleted=tuple(self.gone),
            listed=tuple(self.listed),
            restored=(),
            excluded=tuple(self.excluded),
            documents=len(self.kept),
            chunks=sum(self.chunks[name] for name in self.kept),
        )

    def _shards(self) -> list[_Shard]:
        """The shards of the new bundle, identified as `process` would identify them."""
        before = shard_count(len(self.digests))
        fingerprint = self._fingerprint(before)
        count = shard_count(len(self.kept))
        width = before // count
        return [
            _Shard(
                index,
                tuple(ids),
                shard_inputs(fingerprint, index, [(name, self.digests[name]) for name in ids]),
                range(index * width, (index + 1) * width),
            )
            for index, ids in enumerate(ids_by_shard(self.kept, count))
            if ids or count == 1
        ]

    def _fingerprint(self, count: int) -> str:
        """The pipeline's; raises `BundleError` unless it explains every shard that is there."""
        where = f"{str(self.path)!r} cannot lose single documents"
        source = self._source_name()
        if source is None:
            raise BundleError(f"{where}: it has no passages, so nothing says how; {_ELSE}")
        bm25 = self.manifest.bm25
        weight = None if bm25 is None else bm25.title_weight
        fingerprint = rows_fingerprint(source, self.manifest.components, weight)
        for index, ids in enumerate(ids_by_shard(self.digests, count)):
            inputs = shard_inputs(fingerprint, index, [(name, self.digests[name]) for name in ids])
            for kind in _SHARDED:
                entry = self._entry(kind, index)
                if entry is not None and entry.shard_inputs != inputs:
                    raise BundleError(
                        f"{where}: another release built {entry.path!r}; run `laya process` first"
                    )
        return fingerprint

    def _source_name(self) -> str | None:
        for entry in self.manifest.of_kind("chunks"):
            if entry.rows:
                column = self._read(entry, ["provenance"])["provenance"]
                name: str = column[0]["source"].as_py()
                return name
        return None

    def _entry(self, kind: str, shard: int) -> FileEntry | None:
        found = [entry for entry in self.manifest.of_kind(kind) if entry.shard == shard]
        return found[0] if found else None

    def _read(self, entry: FileEntry, columns: list[str] | None = None) -> pa.Table:
        path = self.path / entry.path
        try:
            table = pq.read_table(path, columns=columns, page_checksum_verification=True)
            return table if columns else table.cast(_written_schema(path))
        except (pa.ArrowException, OSError) as error:
            raise BundleError(f"cannot read {str(path)!r}: {error}") from error

    def _files(self, writer: BundleWriter, shard: _Shard) -> dict[str, FileEntry]:
        """The shard's files by kind: those that are there, or new ones with some of their rows."""
        kinds = [kind for kind in _SHARDED if self.manifest.of_kind(kind)]
        there = {kind: self._entry(kind, shard.index) for kind in kinds}
        if all(entry and entry.shard_inputs == shard.inputs for entry in there.values()):
            return {kind: entry for kind, entry in there.items() if entry is not None}
        tables = {kind: self._joined(kind, shard.sources) for kind in kinds}
        chunks = tables["chunks"]
        if HEADER_COLUMN in chunks.column_names:
            # Headers follow from all documents, and come with the new graph.
            chunks = tables["chunks"] = chunks.drop_columns([HEADER_COLUMN])
        kept = pa.array(shard.ids, pa.string())
        documents = tables["documents"]
        order = _order(documents, kept, ["document_id"])
        tables["documents"] = documents.take(order)
        # Files beside the chunk file have its rows in its order.
        order = _order(chunks, kept, ["document_id", "ordinal"])
        for kind in kinds[1:]:
            tables[kind] = tables[kind].take(order)
        counts = [self.chunks[name] for name in shard.ids]
        return {
            kind: writer.add_table(
                _cut(table, [1] * len(counts) if kind == "documents" else counts),
                kind,
                shard=shard.index,
                inputs=shard.inputs,
            )
            for kind, table in tables.items()
        }

    def _joined(self, kind: str, shards: range) -> pa.Table:
        entries = [entry for entry in self.manifest.of_kind(kind) if entry.shard in shards]
        # A single shard is there even without documents; several always have some among them.
        return pa.concat_tables([self._read(entry) for entry in entries]).combine_chunks()

    def _redactions(self, entries: Iterable[FileEntry]) -> dict[str, int]:
        total: Counter[str] = Counter()
        for entry in entries:
            for row in self._read(entry, ["redactions"])["redactions"].to_pylist():
                total.update(dict(row))
        return dict(sorted(total.items()))

    def _lexical(
        self,
        writer: BundleWriter,
        shards: Sequence[_Shard],
        files: dict[int, dict[str, FileEntry]],
        chunks: int,
    ) -> LexicalFiles:
        parts: list[tuple[Path, int]] = []
        lacking: list[tuple[_Shard, Path]] = []
        base = 0
        for shard in shards:
            path = postings_file(self.cache, shard.index, shard.inputs)
            parts.append((path, base))
            if not path.exists():
                lacking.append((shard, path))
            base += files[shard.index]["chunks"].rows
        self._write_postings(lacking)
        inputs = fingerprint_of([shard.inputs for shard in shards])
        try:
            return write_lexical(writer, parts, chunks, inputs=inputs, fields=self.fields)
        except (pa.ArrowException, OSError) as error:
            raise BundleError(
                f"cannot use the cache {str(self.cache)!r}: {error}; delete it and run again"
            ) from error

    def _write_postings(self, lacking: Sequence[tuple[_Shard, Path]]) -> None:
        """Postings of shards, read off the bundle's in one pass over its file."""
        if not lacking:
            return
        shard_of, row_of = self._moves([shard for shard, _ in lacking])
        found: list[list[pa.Table]] = [[] for _ in lacking]
        (entry,) = self.manifest.of_kind("bm25-postings")
        self.progress.stage("postings", None)
        try:
            with pq.ParquetFile(self.path / entry.path, page_checksum_verification=True) as file:
                for batch in file.iter_batches():
                    for place, table in _split(
                        self._postings(batch), shard_of, row_of, len(lacking)
                    ):
                        found[place].append(table)
        except (pa.ArrowException, OSError) as error:
            raise BundleError(f"cannot copy the postings of {entry.path!r}: {error}") from error
        for tables, (_, path) in zip(found, lacking, strict=True):
            table = pa.concat_tables([posting_columns(self.fields).empty_table(), *tables])
            keep_table(table.combine_chunks(), path)

    def _postings(self, batch: pa.RecordBatch) -> pa.Table:
        return pa.Table.from_batches([batch.cast(posting_columns(self.fields))])

    def _graph(
        self,
        writer: BundleWriter,
        stage: GraphStage,
        shards: Sequence[_Shard],
        files: dict[int, dict[str, FileEntry]],
    ) -> GraphFiles:
        self.progress.stage("graph", None)
        found = [
            ShardFiles(
                shard.index,
                shard.inputs,
                files[shard.index]["chunks"],
                mentions_file(self.cache, shard.index, shard.inputs),
            )
            for shard in shards
        ]
        self._write_mentions(
            [
                (shard, made.mentions)
                for shard, made in zip(shards, found, strict=True)
                if not made.mentions.exists()
            ]
        )
        inputs = fingerprint_of([shard.inputs for shard in shards])
        return write_graph(writer, stage, found, inputs=inputs)

    def _write_mentions(self, lacking: Sequence[tuple[_Shard, Path]]) -> None:
        """Mentions of shards, taken from those of the shards that they are made from."""
        shard_of, row_of = self._moves([shard for shard, _ in lacking])
        found: list[list[pa.Table]] = [[MENTION_COLUMNS.empty_table()] for _ in lacking]
        base = 0
        for entry in self.manifest.of_kind("chunks"):
            table = read_mentions(self._old_mentions(entry))
            old = table["row"].to_numpy().astype(np.int64) + base
            for place, tables in enumerate(found):
                chosen = np.flatnonzero(shard_of[old] == place)
                rows = pa.array(row_of[old[chosen]], pa.uint32())
                tables.append(table.take(chosen).set_column(0, MENTION_COLUMNS.field(0), rows))
            base += entry.rows
        for tables, (_, path) in zip(found, lacking, strict=True):
            joined = pa.concat_tables(tables)
            # Joined shards interleave. Within a row, the order stays.
            order = np.argsort(joined["row"].to_numpy(), kind="stable")
            keep_table(joined.take(order).combine_chunks(), path)

    def _moves(self, lacking: Sequence[_Shard]) -> tuple[Rows, Rows]:
        """For every old row: its place in `lacking`, -1 for none, and its row in that shard."""
        total = self.manifest.counts.chunks
        shard_of = np.full(total, -1, np.int64)
        row_of = np.zeros(total, np.int64)
        places: dict[str, tuple[int, int]] = {}
        for place, shard in enumerate(lacking):
            row = 0
            for name in shard.ids:
                places[name] = (place, row)
                row += self.chunks[name]
        row = 0
        for entry in self.manifest.of_kind("documents"):
            for name in self._read(entry, ["document_id"])["document_id"].to_pylist():
                count = self.chunks[name]
                if name in places:
                    place, first = places[name]
                    shard_of[row : row + count] = place
                    row_of[row : row + count] = np.arange(first, first + count)
                row += count
        return shard_of, row_of


def _stage(entry: GraphEntry, bundle: Path) -> GraphStage:
    """The components that made a graph; raises `BundleError` unless they are those of today."""
    where = f"{str(bundle)!r} cannot lose single documents: its graph"
    try:
        stage = GraphStage(
            extractor=registry.resolve(
                {"provider": entry.provider, "config": entry.config}, EntityExtractor
            ),
            features=tuple(registry.resolve(feature, GraphFeature) for feature in entry.features),
            max_nodes=entry.max_nodes,
            max_neighbors=entry.max_neighbors,
            max_evidence=entry.max_evidence,
        )
    except SignalError as error:
        raise BundleError(f"{where} cannot be made here: {error}") from error
    if stage.fingerprint != entry.fingerprint:
        raise BundleError(f"{where} is of another release; run `laya process` first")
    return stage


def _written_schema(path: Path) -> pa.Schema:
    """The schema of the table that was written; reading renames the items of its lists."""
    stored = pq.read_metadata(path).metadata[b"ARROW:schema"]
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(stored)))


def _order(table: pa.Table, kept: pa.Array, keys: Sequence[str]) -> pa.Array:
    """The rows of the documents in `kept`, in the order of a bundle."""
    rows = pc.indices_nonzero(pc.is_in(table["document_id"], value_set=kept))
    chosen = table.select(keys).take(rows)
    order = pc.sort_indices(chosen, sort_keys=[(key, "ascending") for key in keys])
    return rows.take(order)


def _cut(table: pa.Table, counts: Sequence[int]) -> pa.Table:
    """`table` in the pieces in which `process` writes it, so many rows for each document.

    Where a piece ends decides where a page of the file may end.
    """
    table = table.combine_chunks()
    ends = [0, *np.cumsum(counts).tolist()]
    pieces = []
    for start in range(0, max(1, len(counts)), BATCH_DOCUMENTS):
        low, high = ends[start], ends[min(start + BATCH_DOCUMENTS, len(counts))]
        pieces.append(table.slice(low, high - low))
    return pa.concat_tables(pieces)


def _measured(entry: Bm25Entry, chunks: int, lexical: LexicalFiles) -> Bm25Entry:
    fields = entry.fields and {
        name: field.model_copy(update={"avg_len": lexical.field_lengths[name]})
        for name, field in entry.fields.items()
    }
    update = {"doc_count": chunks, "avg_doc_len": lexical.average_length, "fields": fields}
    return entry.model_copy(update=update)


def _split(
    batch: pa.Table, shard_of: Rows, row_of: Rows, shards: int
) -> Iterator[tuple[int, pa.Table]]:
    """The postings of each shard among those of `batch`, with the rows that it has there."""
    ordinals = batch["ordinals"].combine_chunks()
    flat = ordinals.flatten().to_numpy()
    counted = [batch[name].combine_chunks().flatten() for name in batch.column_names[2:]]
    terms = np.repeat(np.arange(batch.num_rows), ordinals.value_lengths().to_numpy())
    target = shard_of[flat]
    for place in range(shards):
        chosen = np.flatnonzero(target == place)
        if not len(chosen):
            continue
        rows = row_of[flat[chosen]]
        # Joined shards interleave: within a term, rows ascend again.
        order = np.lexsort((rows, terms[chosen]))
        chosen, rows = chosen[order], rows[order]
        held, firsts = np.unique(terms[chosen], return_index=True)
        offsets = pa.array(np.append(firsts, len(chosen)), pa.int32())
        lists = [pa.array(rows, pa.uint32()), *(values.take(chosen) for values in counted)]
        columns = [
            pa.ListArray.from_arrays(offsets, values, type=field.type)
            for values, field in zip(lists, list(batch.schema)[1:], strict=True)
        ]
        term = batch["term"].combine_chunks().take(held)
        yield place, pa.table([term, *columns], schema=batch.schema)
