"""The columns of a bundle's files, and the one way they are written.

Types are fixed here, so that a column without a single value keeps its type, and the writer's
settings are fixed here, so that the same rows always give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

#: Of the chunk columns; raised when one changes its meaning.
SCHEMA_VERSION = 1


def _required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


PROVENANCE = pa.struct(
    [
        _required("source", pa.string()),
        _required("uri", pa.string()),
        _required("digest", pa.string()),
    ]
)
CLASSIFICATION = pa.struct(
    [_required("pii_kinds", pa.list_(pa.string())), _required("pii_count", pa.int32())]
)

#: Folders that every bundle has, and those that come and go with the signal that fills them.
FOLDERS = ("documents", "chunks")
SIDECAR_KINDS = ("multivectors",)

#: Always there; a signal adds its own behind them.
CHUNK_COLUMNS = pa.schema(
    [
        _required("record_id", pa.string()),
        _required("document_id", pa.string()),
        _required("ordinal", pa.int32()),
        _required("start", pa.int64()),
        _required("end", pa.int64()),
        _required("content", pa.string()),
        _required("title", pa.string()),
        _required("heading_path", pa.list_(pa.string())),
        _required("media_type", pa.string()),
        _required("schema_version", pa.int32()),
        _required("provenance", PROVENANCE),
        _required("classification", CLASSIFICATION),
        _required("trust_tier", pa.string()),
        pa.field("tenants", pa.list_(pa.string())),
    ]
)

DOCUMENT_COLUMNS = pa.schema(
    [
        _required("document_id", pa.string()),
        _required("title", pa.string()),
        _required("uri", pa.string()),
        _required("media_type", pa.string()),
        _required("digest", pa.string()),
        _required("characters", pa.int64()),
        _required("chunks", pa.int32()),
        _required("trust_tier", pa.string()),
        pa.field("tenants", pa.list_(pa.string())),
        _required("metadata", pa.map_(pa.string(), pa.string())),
        _required("redactions", pa.map_(pa.string(), pa.int32())),
    ]
)

SKIPPED_COLUMNS = pa.schema(
    [
        _required("document_id", pa.string()),
        _required("reason", pa.string()),
        _required("detail", pa.string()),
        _required("bytes", pa.int64()),
        _required("digest", pa.string()),
    ]
)

TERM_COLUMNS = pa.schema(
    [
        _required("term", pa.string()),
        _required("df", pa.int64()),
        _required("cf", pa.int64()),
        _required("idf", pa.float64()),
    ]
)

#: `ordinals` are rows of the chunk files in manifest order; `frequencies` run beside them.
POSTING_COLUMNS = pa.schema(
    [
        _required("term", pa.string()),
        _required("ordinals", pa.list_(_required("item", pa.uint32()))),
        _required("frequencies", pa.list_(_required("item", pa.uint32()))),
    ]
)


def posting_columns(fields: Sequence[str] = ()) -> pa.Schema:
    """The columns of postings; with BM25F, each field's frequencies behind their sum."""
    lists = POSTING_COLUMNS.field("frequencies").type
    return pa.schema(
        [*POSTING_COLUMNS, *(_required(f"{name}_frequencies", lists) for name in fields)]
    )


#: Rows run beside those of the shard's chunks; a passage without tokens has an empty list.
MULTIVECTOR_COLUMNS = pa.schema(
    [
        _required("record_id", pa.string()),
        _required(
            "multivector",
            pa.list_(_required("item", pa.list_(_required("item", pa.float32())))),
        ),
    ]
)

#: The fixed-dimensional encodings of token vectors, where the stack has them.
FDE_COLUMN = "fde_embedding"
#: The last of the chunk columns, where the stack has a graph.
HEADER_COLUMN = "context_header"
#: What a chunk is told of the graph: its own nodes, the most prominent first, with their centrality
#: and community beside them, and the nodes next to these, the closest first.
CONTEXT_HEADER = pa.struct(
    [
        _required("kg_node_ids", pa.list_(_required("item", pa.string()))),
        _required("neighbor_node_ids", pa.list_(_required("item", pa.string()))),
        _required("kg_node_centrality", pa.list_(_required("item", pa.float32()))),
        _required("kg_node_community", pa.list_(_required("item", pa.int32()))),
    ]
)

#: Undirected, `source < target`; `evidence` are the first of the `evidence_count` chunks with both.
EDGE_COLUMNS = pa.schema(
    [
        _required("source", pa.string()),
        _required("target", pa.string()),
        _required("weight", pa.float64()),
        _required("evidence", pa.list_(_required("item", pa.string()))),
        _required("evidence_count", pa.int64()),
    ]
)


def node_columns(features: Sequence[str]) -> pa.Schema:
    """The columns of the node file, with one for each feature behind those always there."""
    return pa.schema(
        [
            _required("node_id", pa.string()),
            _required("type", pa.string()),
            _required("canonical_name", pa.string()),
            _required("confidence", pa.float64()),
            _required("mentions", pa.list_(_required("item", pa.string()))),
            _required("mention_count", pa.int64()),
            _required("chunk_count", pa.int64()),
            _required("source_documents", pa.list_(_required("item", pa.string()))),
            _required("document_count", pa.int64()),
            _required("centrality", pa.float64()),
            _required("community", pa.int32()),
            *(_required(name, pa.float64()) for name in features),
        ]
    )


def embedding_field(name: str, dimension: int, dtype: str = "float32") -> pa.Field:
    """A column of vectors with `dimension` components, float32 or float16."""
    kind = {"float32": pa.float32(), "float16": pa.float16()}[dtype]
    return _required(name, pa.list_(_required("item", kind), dimension))


def sparse_fields(dimension: int) -> list[pa.Field]:
    """The two columns of sparse vectors over `dimension` indices, in the type that holds them."""
    index = pa.uint32() if dimension <= 1 << 32 else pa.int64()
    return [
        _required("sparse_indices", pa.list_(_required("item", index))),
        _required("sparse_values", pa.list_(_required("item", pa.float32()))),
    ]


def parquet_options(schema: pa.Schema) -> dict[str, Any]:
    """Keywords for `ParquetWriter`: dictionaries for text only, where values repeat."""
    text = [field.name for field in schema if pa.types.is_string(field.type)]
    return {
        "version": "2.6",
        "compression": "zstd",
        "compression_level": 3,
        "use_dictionary": text or False,
        "write_statistics": True,
        "write_page_checksum": True,
        "data_page_version": "1.0",
    }


def write_table(table: pa.Table, sink: Any) -> None:
    """Write `table` to a path or a file object with the bundle's fixed settings."""
    pq.write_table(table, sink, row_group_size=8192, **parquet_options(table.schema))
