"""How two bundles differ: which file, which column, which record, which byte."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from laya_index.bundle.manifest import FILE_NAME, FileEntry, read_manifest

_NAMES = ("record_id", "document_id", "term", "node_id")
_SHOWN = 60


def byte_differences(left: Path, right: Path) -> Iterator[str]:
    """Every way in which the files of two bundles are not the same bytes, said precisely."""
    yield from row_differences(left, right)
    one, other = _files(left), _files(right)
    for name in sorted(one.keys() ^ other.keys()):
        if not name.endswith(".parquet"):  # a Parquet file's name is its content
            yield f"{name} is in one bundle only"
    for name in sorted(one.keys() & other.keys()):
        place = _first_difference(one[name].read_bytes(), other[name].read_bytes())
        if place is not None:
            yield f"{name} differs from byte {place}"


def row_differences(left: Path, right: Path) -> Iterator[str]:
    """Every file of two bundles that does not hold the same rows, and what the manifests say."""
    one, other = read_manifest(left), read_manifest(right)
    files = [_by_place(manifest.files) for manifest in (one, other)]
    for place in sorted(files[0].keys() | files[1].keys()):
        entries = [found.get(place) for found in files]
        if entries[0] is None or entries[1] is None:
            present = entries[0] or entries[1]
            yield f"{present.path if present else place}: only one of the bundles has this file"
        elif entries[0].sha256 != entries[1].sha256:
            yield from _in_files(left, right, entries[0], entries[1])
    facts = [manifest.model_dump(mode="json", exclude={"files"}) for manifest in (one, other)]
    for key, a, b in _in_values("", facts[0], facts[1]):
        yield f"{FILE_NAME}: {key} is {_short(a)}, then {_short(b)}"


def _files(folder: Path) -> dict[str, Path]:
    return {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()
    }


def _by_place(entries: list[FileEntry]) -> dict[tuple[str, int], FileEntry]:
    return {(e.kind, -1 if e.shard is None else e.shard): e for e in entries}


def _in_files(left: Path, right: Path, one: FileEntry, other: FileEntry) -> Iterator[str]:
    paths = left / one.path, right / other.path
    first_byte = _first_difference(paths[0].read_bytes(), paths[1].read_bytes())
    end = f" (the files differ from byte {first_byte})"
    tables = [pq.read_table(path) for path in paths]
    if not tables[0].schema.equals(tables[1].schema):
        for a, b in zip_longest(tables[0].schema, tables[1].schema):
            if a is None or b is None or not a.equals(b):
                yield f"{one.path}: column {a} is then {b}{end}"
                return
    for name in tables[0].schema.names:
        row = _first_row(tables[0][name], tables[1][name])
        if row is not None:
            yield f"{one.path}: {_at(tables, name, row)}{end}"
            return
    if tables[0].num_rows != tables[1].num_rows:
        yield f"{one.path}: {tables[0].num_rows} rows, then {tables[1].num_rows}{end}"
        return
    yield f"{one.path}: the same rows, written otherwise{end}"


def _first_row(left: pa.ChunkedArray, right: pa.ChunkedArray) -> int | None:
    """The first row in which two columns differ; NaN equals NaN."""
    if left.equals(right):
        return None
    for row, (a, b) in enumerate(zip(left, right, strict=False)):
        if not a.equals(b) and repr(a.as_py()) != repr(b.as_py()):
            return row
    return None


def _at(tables: list[pa.Table], column: str, row: int) -> str:
    name = next((name for name in _NAMES if name in tables[0].schema.names), None)
    where = f"row {row}" if name is None else f"{name} {tables[0][name][row].as_py()!r}"
    a, b = (table[column][row].as_py() for table in tables)
    inside = next(_in_values("", a, b), None)
    if inside is not None and inside[0]:
        step, a, b = inside
        return f"column {column!r} of {where}: {step} is {_short(a)}, then {_short(b)}"
    return f"column {column!r} of {where} is {_short(a)}, then {_short(b)}"


def _in_values(place: str, left: Any, right: Any) -> Iterator[tuple[str, Any, Any]]:
    """Where two plain values differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in [*left, *(key for key in right if key not in left)]:
            inner = f"{place}.{key}" if place else str(key)
            yield from _in_values(inner, left.get(key), right.get(key))
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, (a, b) in enumerate(zip(left, right, strict=True)):
            yield from _in_values(f"{place}[{index}]", a, b)
    elif repr(left) != repr(right):
        yield place, left, right


def _first_difference(left: bytes, right: bytes) -> int | None:
    if left == right:
        return None
    pairs = zip(left, right, strict=False)
    shorter = min(len(left), len(right))
    return next((place for place, (a, b) in enumerate(pairs) if a != b), shorter)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
