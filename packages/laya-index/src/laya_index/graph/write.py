"""The graph in a bundle: the two files of its own, and the column that it adds to chunk files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from laya_index.bundle.manifest import FileEntry
from laya_index.bundle.schema import CONTEXT_HEADER, HEADER_COLUMN
from laya_index.bundle.writer import BundleWriter
from laya_index.errors import BundleError
from laya_index.graph.assemble import GraphStage, assemble
from laya_index.graph.nodes import Shard


@dataclass(frozen=True, slots=True)
class ShardFiles:
    """A shard's chunk file, with or without headers, and where the cache keeps its mentions."""

    index: int
    inputs: str
    chunks: FileEntry
    mentions: Path


@dataclass(frozen=True, slots=True)
class GraphFiles:
    """What was written; `chunks` are the chunk files with their headers, shard by shard."""

    chunks: list[FileEntry]
    nodes: FileEntry
    edges: FileEntry
    communities: int


def write_graph(
    writer: BundleWriter, stage: GraphStage, shards: Sequence[ShardFiles], *, inputs: str
) -> GraphFiles:
    """Put the graph of all shards together, and write its files and their headers.

    A chunk file that has the right headers already is kept. `inputs` identifies what the graph's
    two files are made from. Raises `BundleError` when a file cannot be read or written.
    """
    parts = []
    for shard in shards:
        ids = _rows(writer.path, shard.chunks, ["record_id", "document_id"]).combine_chunks()
        columns = (ids[name].combine_chunks() for name in ids.column_names)
        parts.append(Shard(shard.mentions, *columns))
    graph = assemble(stage, parts)
    return GraphFiles(
        chunks=[_headed(writer, shard, graph.header(place)) for place, shard in enumerate(shards)],
        nodes=writer.add_table(graph.node_table(), "graph-nodes", inputs=inputs),
        edges=writer.add_table(graph.edge_table(), "graph-edges", inputs=inputs),
        communities=int(graph.community.max(initial=-1)) + 1,
    )


def _headed(writer: BundleWriter, shard: ShardFiles, header: pa.Array) -> FileEntry:
    """The shard's chunk file with this header column instead of the one that it has, if any.

    Headers follow from the whole corpus, the other columns from the shard: the file's `inputs`
    say both, so that either can be kept while the other changes.
    """
    inputs = f"{shard.inputs}-{_digest(header)}"
    if shard.chunks.inputs == inputs:
        return shard.chunks
    rows = _rows(writer.path, shard.chunks)
    if HEADER_COLUMN in rows.column_names:
        rows = rows.drop_columns([HEADER_COLUMN])
    column = pa.field(HEADER_COLUMN, CONTEXT_HEADER, nullable=False)
    # In one piece, whatever the rows were read from: pieces show in a file's pages.
    table = rows.append_column(column, header).combine_chunks()
    return writer.add_table(table, "chunks", shard=shard.index, inputs=inputs)


def _rows(bundle: Path, entry: FileEntry, columns: list[str] | None = None) -> pa.Table:
    path = bundle / entry.path
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            return file.read(columns=columns)
    except (pa.ArrowException, OSError) as error:
        raise BundleError(
            f"cannot read {str(path)!r}: {error}; build the bundle again with --full"
        ) from error


def _digest(column: pa.Array) -> str:
    """Sixteen hex digits over the values of a column."""
    sink = pa.BufferOutputStream()
    table = pa.table({HEADER_COLUMN: column})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return hashlib.sha256(sink.getvalue()).hexdigest()[:16]
