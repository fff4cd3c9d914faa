"""Looks for planted values in everything that a run has written.

Plant values that no honest text holds, run, and ask `find_leaks` about the folder: it reads every
file as bytes and, where it knows the format, as the values that the bytes encode, so that neither
compression nor an escape hides one.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

_BLOCK = 1 << 22
_PARQUET = b"PAR1"
_SQLITE = b"SQLite format 3\x00"
_GZIP = b"\x1f\x8b"
# Shorter values, stripped of their punctuation, would be found in honest numbers.
_SQUEEZED = 8


@dataclass(frozen=True, slots=True, order=True)
class Leak:
    """A planted value that was found: in which file, where in it, and the name of the value.

    The value itself is not repeated, so that a report of leaks is not one more.
    """

    path: str
    place: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} in {self.path} ({self.place})"


def find_leaks(folder: Path, planted: Mapping[str, str]) -> list[Leak]:
    """Every planted value in the files below `folder`, and in their names; sorted.

    `planted` maps a name to a value. A value is found in any letter case, in UTF-8 and UTF-16,
    percent-encoded, as HTML, with other separators (`415-555-2671` as `415 555 2671`), in Parquet
    columns, SQLite tables, JSON strings and gzip streams. A tokenizer may keep only pieces of a
    value: plant those pieces under names of their own. Raises `OSError` when a file cannot be read.
    """
    wanted = _Wanted(planted)
    found: set[Leak] = set()
    for path in sorted(item for item in folder.rglob("*") if not item.is_dir()):
        inside = path.relative_to(folder).as_posix()
        for name in wanted.in_text(inside):
            found.add(Leak(inside, "file name", name))
        if path.is_file():
            for place, name in _in_file(path, wanted):
                found.add(Leak(inside, place, name))
    return sorted(found)


def leaks_in(text: str, planted: Mapping[str, str], path: str = "<text>") -> list[Leak]:
    """Every planted value in `text`: the output of a command, say, or the message of an error."""
    return [Leak(path, "text", name) for name in sorted(_Wanted(planted).in_text(text))]


class _Wanted:
    """The planted values, in the forms in which they are looked for."""

    def __init__(self, planted: Mapping[str, str]) -> None:
        for name, value in planted.items():
            if not value.strip():
                raise ValueError(f"the planted value {name!r} is empty")
        self._plain = {name: _folded(value) for name, value in planted.items()}
        squeezed = {name: _squeezed(value) for name, value in planted.items()}
        self._squeezed = {n: value for n, value in squeezed.items() if len(value) >= _SQUEEZED}
        self._bytes = [
            (name, form.encode(encoding))
            for name, value in planted.items()
            for form in dict.fromkeys((value, value.lower()))
            for encoding in ("utf-8", "utf-16-le", "utf-16-be")
        ]
        self.overlap = max((len(form) for _, form in self._bytes), default=1) - 1

    def in_text(self, text: str) -> set[str]:
        """The names of the values in `text`."""
        folded = _folded(text)
        forms = {folded, unquote(folded), unescape(folded)}
        squeezed = _squeezed(text)
        return {
            name for name, value in self._plain.items() if any(value in form for form in forms)
        } | {name for name, value in self._squeezed.items() if value in squeezed}

    def in_bytes(self, data: bytes) -> set[str]:
        """The names of the values in `data`."""
        lower = data.lower()
        return {name for name, form in self._bytes if form in data or form in lower}


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _squeezed(text: str) -> str:
    return "".join(filter(str.isalnum, _folded(text)))


def _in_file(path: Path, wanted: _Wanted) -> Iterator[tuple[str, str]]:
    with path.open("rb") as file:
        for name in _in_stream(file, wanted):
            yield "bytes", name
        file.seek(0)
        head = file.read(len(_SQLITE))
    if head.startswith(_PARQUET):
        yield from _in_parquet(path, wanted)
    elif head == _SQLITE:
        yield from _in_sqlite(path, wanted)
    elif head.startswith(_GZIP):
        yield from _in_gzip(path, wanted)
    elif path.suffix in {".json", ".jsonl", ".ndjson"}:
        yield from _in_json(path, wanted)


def _in_stream(file: BinaryIO | gzip.GzipFile, wanted: _Wanted) -> set[str]:
    found: set[str] = set()
    tail = b""
    while block := file.read(_BLOCK):
        data = tail + block
        found |= wanted.in_bytes(data)
        tail = data[max(0, len(data) - wanted.overlap) :]
    return found


def _in_parquet(path: Path, wanted: _Wanted) -> Iterator[tuple[str, str]]:
    """Decoded values; a torn file holds no more than its bytes, which were looked at."""
    try:
        file = pq.ParquetFile(path)
    except pa.ArrowException:
        return
    with file:
        for batch in file.iter_batches():
            for column, array in zip(batch.schema.names, batch.columns, strict=True):
                for name in _in_array(array, wanted):
                    yield f"column {column}", name


def _in_array(array: pa.Array, wanted: _Wanted) -> set[str]:
    kind = array.type
    if pa.types.is_struct(kind):
        return _union(_in_array(part, wanted) for part in array.flatten())
    if pa.types.is_map(kind):
        return _in_array(array.keys, wanted) | _in_array(array.items, wanted)
    if pa.types.is_nested(kind):
        return _in_array(array.flatten(), wanted)
    if pa.types.is_dictionary(kind):
        return _in_array(array.dictionary, wanted)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _union(wanted.in_text(value) for value in array.to_pylist() if value)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return _union(wanted.in_bytes(value) for value in array.to_pylist() if value)
    return set()


def _in_sqlite(path: Path, wanted: _Wanted) -> Iterator[tuple[str, str]]:
    # A writer's log beside it holds rows too; without one, opening the file leaves no trace.
    logged = path.with_name(f"{path.name}-wal").exists()
    mode = "mode=ro" if logged else "immutable=1"
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)) as db:
        try:
            tables = [
                name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type='table'")
            ]
            for table in tables:
                quoted = table.replace('"', '""')
                rows = db.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 - quoted
                for row in rows:
                    for name in _union(_in_cell(cell, wanted) for cell in row):
                        yield f"table {table}", name
        except sqlite3.DatabaseError:
            return  # damaged: its bytes were looked at


def _in_cell(cell: object, wanted: _Wanted) -> set[str]:
    return wanted.in_bytes(cell) if isinstance(cell, bytes) else wanted.in_text(str(cell))


def _in_gzip(path: Path, wanted: _Wanted) -> Iterator[tuple[str, str]]:
    try:
        with gzip.open(path) as file:
            found = _in_stream(file, wanted)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return
    for name in found:
        yield "unpacked", name


def _in_json(path: Path, wanted: _Wanted) -> Iterator[tuple[str, str]]:
    text = path.read_text(encoding="utf-8", errors="replace")
    for part in (text,) if path.suffix == ".json" else text.splitlines():
        try:
            data = json.loads(part)
        except ValueError:
            continue
        for name in _union(wanted.in_text(string) for string in _strings(data)):
            yield "JSON string", name


def _strings(data: object) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from _strings(value)
    elif isinstance(data, list):
        for value in data:
            yield from _strings(value)
    elif data is not None:
        yield str(data)


def _union(sets: Iterable[set[str]]) -> set[str]:
    return set().union(*sets)
