"""What every bundle promises (`docs/bundle.md`), column by column."""

from __future__ import annotations

import hashlib
import json
import re
import socket
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from laya_index.bundle.manifest import FILE_NAME, EmbeddingEntry, FileEntry, Manifest, read_manifest
from laya_index.bundle.schema import (
    CHUNK_COLUMNS,
    CONTEXT_HEADER,
    DOCUMENT_COLUMNS,
    EDGE_COLUMNS,
    HEADER_COLUMN,
    MULTIVECTOR_COLUMNS,
    SCHEMA_VERSION,
    SKIPPED_COLUMNS,
    TERM_COLUMNS,
    node_columns,
    posting_columns,
)
from laya_index.document import RedactedDocument, SourceDocument
from laya_index.pipeline import Pipeline
from laya_index.redact.base import redact
from laya_index.trust import TIERS
from laya_signals.bm25 import inverse_document_frequency
from numpy.typing import NDArray

from laya_rag.validate.base import Finding, counted, first_of
from laya_rag.validate.trial import Trial

# How far a vector's length may be from 1: a few roundings of its type.
_ROUNDING = {"float32": 1e-4, "float16": 4e-3}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_DAY = 86_400.0


def check_contracts(trial: Trial) -> Finding:
    """Hold the first bundle to its format, and its passages to the documents they come from."""
    bundle = trial.first
    problems = first_of(contract_problems(bundle, trial.pipeline, trial.documents))
    counts = read_manifest(bundle).counts
    return Finding(
        f"{counted(counts.documents, 'document')}, {counted(counts.chunks, 'chunk')}, "
        f"{counted(counts.terms, 'term')}",
        problems,
    )


def contract_problems(
    bundle: Path, pipeline: Pipeline, documents: Mapping[str, SourceDocument]
) -> Iterator[str]:
    """Everything in which `bundle` breaks the format; `documents` are what it was built from."""
    manifest = read_manifest(bundle)
    broken = list(_manifest_problems(bundle, manifest))
    broken += _file_problems(bundle, manifest)
    if broken:
        yield from broken  # what is in the files would only repeat it
        return
    tables = {
        kind: [pq.read_table(bundle / entry.path) for entry in manifest.of_kind(kind)]
        for kind in dict.fromkeys(entry.kind for entry in manifest.files)
    }
    broken = list(_schema_problems(manifest, tables, pipeline))
    if broken:
        yield from broken
        return
    documents_table = pa.concat_tables(tables["documents"])
    chunks = pa.concat_tables(tables["chunks"])
    yield from _count_problems(manifest, tables)
    yield from _document_problems(documents_table, pipeline, documents)
    yield from _chunk_problems(chunks, documents_table, pipeline)
    yield from _offset_problems(chunks, pipeline, documents)
    yield from _vector_problems(manifest, chunks)
    yield from _sparse_problems(manifest, chunks)
    yield from _multivector_problems(manifest, tables, chunks)
    yield from _lexical_problems(manifest, tables, chunks, pipeline)


def _manifest_problems(bundle: Path, manifest: Manifest) -> Iterator[str]:
    """No time, no host, no absolute path: the same bytes on every machine."""
    text = (bundle / FILE_NAME).read_text(encoding="utf-8")
    host = socket.gethostname()
    for place, value in _leaves("", json.loads(text)):
        if isinstance(value, str):
            if value.startswith("/") and len(value) > 1 and _exists(value):
                yield f"{FILE_NAME}: {place} is an absolute path, {value!r}"
            elif str(bundle.parent) in value or str(Path.home()) + "/" in value:
                yield f"{FILE_NAME}: {place} holds a path of this machine, {value!r}"
            elif _MOMENT.search(value):
                yield f"{FILE_NAME}: {place} holds a time, {value!r}"
            elif value == host and place != "stack.name" and host not in {"", "localhost"}:
                yield f"{FILE_NAME}: {place} is this machine's name"
        elif isinstance(value, float | int) and _is_now(value):
            yield f"{FILE_NAME}: {place} is the time of the run, {value}"
    if text != manifest.to_json():
        yield f"{FILE_NAME} is not written in the canonical form"


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False  # too long for a path, or with a null


def _leaves(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(f"{place}.{key}" if place else key, inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(f"{place}[{index}]", inner)
    else:
        yield place, value


def _is_now(value: float) -> bool:
    return any(abs(value / unit - time.time()) < _DAY for unit in (1, 1e3, 1e6, 1e9))


def _file_problems(bundle: Path, manifest: Manifest) -> Iterator[str]:
    """The files are those of the manifest, with the sizes, hashes and rows that it says."""
    named = {FILE_NAME}
    for entry in manifest.files:
        named.add(entry.path)
        inside = PurePosixPath(entry.path)
        path = bundle / entry.path
        if inside.is_absolute() or ".." in inside.parts or "\\" in entry.path:
            yield f"{entry.path}: outside the bundle"
        elif path.is_symlink() or not path.is_file():
            yield f"{entry.path}: no file of the bundle"
        else:
            yield from _entry_problems(path, entry)
    for path in sorted(bundle.rglob("*")):
        name = path.relative_to(bundle).as_posix()
        if path.is_file() and name not in named:
            yield f"{name}: not in the manifest"


def _entry_problems(path: Path, entry: FileEntry) -> Iterator[str]:
    data = path.read_bytes()
    if len(data) != entry.bytes:
        yield f"{entry.path}: {len(data)} bytes, the manifest says {entry.bytes}"
    if hashlib.sha256(data).hexdigest() != entry.sha256:
        yield f"{entry.path}: its SHA-256 is not the manifest's"
        return
    rows = pq.read_metadata(path).num_rows
    if rows != entry.rows:
        yield f"{entry.path}: {rows} rows, the manifest says {entry.rows}"


def _schema_problems(
    manifest: Manifest, tables: Mapping[str, Sequence[pa.Table]], pipeline: Pipeline
) -> Iterator[str]:
    wanted = _schemas(pipeline)
    for kind, parts in tables.items():
        if kind not in wanted:
            yield f"{FILE_NAME}: {kind!r} files belong to no signal of the stack"
            continue
        for entry, table in zip(manifest.of_kind(kind), parts, strict=True):
            if not table.schema.equals(wanted[kind]):
                yield from _field_problems(entry.path, table.schema, wanted[kind])
            for field, column in zip(table.schema, table.columns, strict=True):
                for place in _nulls(field, column.combine_chunks(), field.name):
                    yield f"{entry.path}: column {place} has a null, which it excludes"


def _schemas(pipeline: Pipeline) -> dict[str, pa.Schema]:
    """The columns of every kind of file that the stack's components write."""
    added = [field for made in pipeline.generators.values() for field in made.fields()]
    found = {"documents": DOCUMENT_COLUMNS, "skipped": SKIPPED_COLUMNS}
    if pipeline.lexical is not None:
        found["bm25-terms"] = TERM_COLUMNS
        found["bm25-postings"] = posting_columns(pipeline.lexical.fields)
    if pipeline.graph is not None:
        added.append(pa.field(HEADER_COLUMN, CONTEXT_HEADER, nullable=False))
        found["graph-nodes"] = node_columns([made.name for made in pipeline.graph.features])
        found["graph-edges"] = EDGE_COLUMNS
    if "multivectors" in pipeline.sidecars:
        found["multivectors"] = MULTIVECTOR_COLUMNS
    return found | {"chunks": pa.schema([*CHUNK_COLUMNS, *added])}


def _field_problems(path: str, found: pa.Schema, wanted: pa.Schema) -> Iterator[str]:
    for name in dict.fromkeys([*wanted.names, *found.names]):
        here = found.field(name) if name in found.names else None
        there = wanted.field(name) if name in wanted.names else None
        if here is None:
            yield f"{path}: column {name!r} is missing"
        elif there is None:
            yield f"{path}: column {name!r} belongs to no signal of the stack"
        elif not here.equals(there):
            yield f"{path}: column {name!r} is {_typed(here)}, not {_typed(there)}"
    if sorted(found.names) == sorted(wanted.names) and found.names != wanted.names:
        yield f"{path}: its columns are in another order"


def _typed(field: pa.Field) -> str:
    return f"{field.type}{'' if field.nullable else ' not null'}"


def _nulls(field: pa.Field, array: pa.Array, place: str) -> Iterator[str]:
    """Where an array has a null that its type excludes, at any depth."""
    if not field.nullable and array.null_count:
        yield place
        return
    kind = field.type
    if pa.types.is_struct(kind):
        for inner, part in zip(kind, array.flatten(), strict=True):
            yield from _nulls(inner, part, f"{place}.{inner.name}")
    elif pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        yield from _nulls(kind.value_field, array.flatten(), f"{place}[]")


def _count_problems(manifest: Manifest, tables: Mapping[str, Sequence[pa.Table]]) -> Iterator[str]:
    counts = manifest.counts
    rows = {kind: sum(part.num_rows for part in parts) for kind, parts in tables.items()}
    for name, kind in (("documents", "documents"), ("chunks", "chunks"), ("terms", "bm25-terms")):
        if getattr(counts, name) != rows.get(kind, 0):
            yield f"{FILE_NAME}: counts {getattr(counts, name)} {name}, there are {rows[kind]}"
    reasons: Counter[str] = Counter()
    for part in tables.get("skipped", ()):
        reasons.update(part["reason"].to_pylist())
    if reasons != Counter(counts.skipped):
        yield f"{FILE_NAME}: counts.skipped is not what the skipped file lists"
    redactions: Counter[str] = Counter()
    for part in tables["documents"]:
        for found in part["redactions"].to_pylist():
            redactions.update(dict(found))
    if redactions != Counter(counts.redactions):
        yield f"{FILE_NAME}: counts.redactions is not the sum over the documents"


def _document_problems(
    table: pa.Table, pipeline: Pipeline, documents: Mapping[str, SourceDocument]
) -> Iterator[str]:
    ids = table["document_id"].to_pylist()
    for name in sorted(documents.keys() - set(ids)):
        yield f"document {name!r} of the source is not in the bundle"
    for name, times in Counter(ids).items():
        if times > 1:
            yield f"document {name!r} is in the bundle {times} times"
    for row in table.to_pylist():
        name = row["document_id"]
        source = documents.get(name)
        if source is None:
            yield f"document {name!r} is not in the source"
            continue
        trust = pipeline.trust.assign(name)
        facts = {
            "digest": source.digest,
            "uri": source.uri,
            "media_type": source.media_type,
            "characters": source.offset + len(source.text),
            "trust_tier": trust.tier,
            "tenants": None if trust.tenants is None else list(trust.tenants),
        }
        for key, wanted in facts.items():
            if row[key] != wanted:
                yield f"document {name!r}: {key} is {row[key]!r}, not {wanted!r}"
        if row["trust_tier"] not in TIERS:
            yield f"document {name!r}: {row['trust_tier']!r} is no trust tier"


def _chunk_problems(chunks: pa.Table, documents: pa.Table, pipeline: Pipeline) -> Iterator[str]:
    """Ids, ordinals, and what a passage repeats of its document."""
    by_id = {row["document_id"]: row for row in documents.to_pylist()}
    rows = chunks.select(CHUNK_COLUMNS.names).to_pylist()
    found: dict[str, int] = {}
    for name, group in groupby(rows, key=lambda row: row["document_id"]):
        document = by_id.get(name)
        if document is None or name in found:
            what = "lie apart" if name in found else "belong to no document"
            yield f"chunks of {name!r} {what}"
            continue
        passages = list(group)
        found[name] = len(passages)
        kinds = dict(document["redactions"])
        facts = {
            **{key: document[key] for key in ("title", "media_type", "trust_tier", "tenants")},
            "schema_version": SCHEMA_VERSION,
            "provenance": {
                "source": pipeline.source_name,
                "uri": document["uri"],
                "digest": document["digest"],
            },
            "classification": {"pii_kinds": list(kinds), "pii_count": sum(kinds.values())},
        }
        for ordinal, row in enumerate(passages):
            record = row["record_id"]
            if row["ordinal"] != ordinal or record != f"{name}#chunk-{ordinal}":
                yield f"record {record!r} has ordinal {row['ordinal']}, its place is {ordinal}"
            for key, wanted in facts.items():
                if row[key] != wanted:
                    yield f"record {record!r}: {key} is {row[key]!r}, not {wanted!r}"
            if not row["content"].strip():
                yield f"record {record!r} is blank"
    for name, document in by_id.items():
        if found.get(name, 0) != document["chunks"]:
            yield f"document {name!r}: {document['chunks']} chunks, there are {found.get(name, 0)}"


def _offset_problems(
    chunks: pa.Table, pipeline: Pipeline, documents: Mapping[str, SourceDocument]
) -> Iterator[str]:
    """A passage is its document between its offsets, and every visible character is in one."""
    columns = ["record_id", "document_id", "start", "end", "content"]
    rows = chunks.select(columns).to_pylist()
    for name, group in groupby(rows, key=lambda row: row["document_id"]):
        source = documents.get(name)
        if source is None:
            continue  # said already
        redacted = redact(source, pipeline.redactor)
        covered = source.offset
        for row in group:
            start, end = row["start"] - source.offset, row["end"] - source.offset
            where = f"record {row['record_id']!r}, characters {row['start']}:{row['end']}"
            if not 0 <= start < end <= len(source.text):
                yield f"{where}: outside the document, which has {len(source.text)}"
            elif source.text[start:end] != row["content"] and not _stands_for(row, redacted):
                there, here = source.text[start:end][:40], row["content"][:40]
                yield f"{where}: the document has {there!r} there, not {here!r}"
            if source.text[covered - source.offset : max(0, start)].strip():
                yield f"{where}: characters {covered}:{row['start']} before it are in no chunk"
            covered = max(covered, row["end"])
        if source.text[covered - source.offset :].strip():
            yield f"document {name!r}: what follows character {covered} is in no chunk"


def _stands_for(row: Mapping[str, Any], document: RedactedDocument) -> bool:
    """Whether the passage is redacted text whose original lies between its offsets."""
    content, at = row["content"], -1
    while (at := document.text.find(content, at + 1)) >= 0:
        offsets = document.offsets
        if (offsets.start_of(at), offsets.end_of(at + len(content))) == (row["start"], row["end"]):
            return True
    return False


def _vector_problems(manifest: Manifest, chunks: pa.Table) -> Iterator[str]:
    ids = chunks["record_id"]
    for name, entry in manifest.embeddings.items():
        matrix = _matrix(chunks[name])
        if matrix.shape[1] != entry.dimension:
            yield f"column {name!r} has {matrix.shape[1]} components, not {entry.dimension}"
            continue
        lengths = np.linalg.norm(matrix, axis=1)
        for row in np.flatnonzero(~(np.abs(lengths - 1.0) <= _tolerance(entry))):
            yield f"record {ids[int(row)].as_py()!r}: {name} has length {lengths[row]:.6g}, not 1"
    for name, signal in manifest.signals.items():
        if name != "fde":
            continue
        for column in signal.columns:
            matrix = _matrix(chunks[column])
            for row in np.flatnonzero(~np.isfinite(matrix).all(axis=1)):
                yield f"record {ids[int(row)].as_py()!r}: {column} is not finite"


def _tolerance(entry: EmbeddingEntry) -> float:
    return _ROUNDING[entry.dtype]


def _matrix(column: pa.ChunkedArray) -> NDArray[np.float64]:
    flat = np.asarray(column.combine_chunks().flatten(), np.float64)
    return flat.reshape(len(column), column.type.list_size)


def _sparse_problems(manifest: Manifest, chunks: pa.Table) -> Iterator[str]:
    entry = manifest.signals.get("sparse")
    if entry is None:
        return
    names = ("record_id", "sparse_indices", "sparse_values")
    for record, indices, values in zip(*(chunks[n].to_pylist() for n in names), strict=True):
        if len(indices) != len(values):
            yield f"record {record!r}: {len(indices)} sparse indices, {len(values)} values"
        for a, b in pairwise(indices):
            if a >= b:
                yield f"record {record!r}: sparse index {b} stands behind {a}"
                break
        if indices and not 0 <= min(indices) <= max(indices) < (entry.dimension or 0):
            yield f"record {record!r}: a sparse index is not below {entry.dimension}"
        if not all(np.isfinite(value) and value != 0 for value in values):
            yield f"record {record!r}: a sparse value is zero or not finite"


def _multivector_problems(
    manifest: Manifest, tables: Mapping[str, Sequence[pa.Table]], chunks: pa.Table
) -> Iterator[str]:
    if "multivectors" not in tables:
        return
    table = pa.concat_tables(tables["multivectors"])
    if not table["record_id"].equals(chunks["record_id"]):
        yield "multivectors: its records are not those of the chunks, in their order"
        return
    dimension = manifest.signals["multivector"].dimension or 0
    for record, vectors in zip(
        table["record_id"].to_pylist(), table["multivector"].to_pylist(), strict=True
    ):
        if any(len(vector) != dimension for vector in vectors):
            yield f"record {record!r}: a token vector has not {dimension} components"
            continue
        lengths = np.linalg.norm(np.array(vectors).reshape(-1, dimension), axis=1)
        if not (np.abs(lengths - 1.0) <= _ROUNDING["float32"]).all():
            yield f"record {record!r}: a token vector is not of length 1"


def _lexical_problems(
    manifest: Manifest,
    tables: Mapping[str, Sequence[pa.Table]],
    chunks: pa.Table,
    pipeline: Pipeline,
) -> Iterator[str]:
    """Terms, postings and the numbers that scoring takes from them agree."""
    entry = manifest.bm25
    if entry is None or pipeline.lexical is None:
        return
    terms = pa.concat_tables(tables["bm25-terms"]).to_pydict()
    postings = pa.concat_tables(tables["bm25-postings"]).to_pydict()
    names = terms["term"]
    if names != sorted(set(names)):
        yield "bm25-terms: terms are not strictly ascending"
    if postings["term"] != names:
        yield "bm25-postings: its terms are not those of bm25-terms"
        return
    counts: list[Counter[str]] = [Counter() for _ in range(chunks.num_rows)]
    fields = pipeline.lexical.fields
    parts = [postings[f"{name}_frequencies"] for name in fields]
    for term, total, *each in zip(names, postings["frequencies"], *parts, strict=True):
        if fields and [sum(counts) for counts in zip(*each, strict=True)] != total:
            yield f"term {term!r}: its frequencies are not the sum over {', '.join(fields)}"
    rows = zip(*(terms[n] for n in TERM_COLUMNS.names), strict=True)
    lists = zip(postings["ordinals"], postings["frequencies"], strict=True)
    for (term, df, cf, idf), (ordinals, frequencies) in zip(rows, lists, strict=True):
        wanted = float(inverse_document_frequency(df, max(df, entry.doc_count)))
        if len(ordinals) != df or len(frequencies) != df or sum(frequencies) != cf:
            yield f"term {term!r}: df {df} and cf {cf} are not what its postings say"
        elif any(a >= b for a, b in pairwise(ordinals)):
            yield f"term {term!r}: its ordinals do not ascend"
        elif ordinals[-1] >= chunks.num_rows or min(frequencies) < 1:
            yield f"term {term!r}: an ordinal or a frequency is out of range"
        elif not np.isclose(idf, wanted, rtol=1e-12):
            yield f"term {term!r}: idf is {idf}, not {wanted}"
        else:
            for ordinal, frequency in zip(ordinals, frequencies, strict=True):
                counts[ordinal][term] = frequency
    if entry.doc_count != chunks.num_rows:
        yield f"{FILE_NAME}: bm25.doc_count is {entry.doc_count}, not {chunks.num_rows}"
    average = sum(terms["cf"]) / chunks.num_rows if chunks.num_rows else 0.0
    if not np.isclose(entry.avg_doc_len, average, rtol=1e-12):
        yield f"{FILE_NAME}: bm25.avg_doc_len is {entry.avg_doc_len}, not {average}"
    if fields and "content" not in fields:
        return
    records, contents = (chunks[name].to_pylist() for name in ("record_id", "content"))
    for record, content, count in zip(records, contents, counts, strict=True):
        for term, times in Counter(pipeline.lexical.tokenizer.tokenize(content)).items():
            if count[term] < times:
                yield f"record {record!r} holds {term!r} {times}x, its posting says {count[term]}"
