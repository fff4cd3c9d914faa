"""Opening Parquet and Arrow IPC files, wherever they are, and reading them batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

#: File names that a folder of tables is searched for.
SUFFIXES = (".parquet", ".arrow", ".arrows", ".feather", ".ipc")
_S3 = "s3://"
# What no answer from a server takes, so that a wrong endpoint is told, not waited for.
_CONNECT_SECONDS, _REQUEST_SECONDS = 10, 60


@dataclass(frozen=True, slots=True)
class Location:
    """A path in a file system; `name` is how messages call it."""

    filesystem: Any
    path: str
    name: str


def locate(path: str, endpoint: str | None, region: str | None) -> Location:
    """The local path or `s3://bucket/key` that `path` names.

    Credentials for S3 come from where AWS tools look for them (environment, profile, instance).
    """
    if not path.startswith(_S3):
        return Location(fs.LocalFileSystem(), path, path)
    options: dict[str, Any] = {
        "connect_timeout": _CONNECT_SECONDS,
        "request_timeout": _REQUEST_SECONDS,
    }
    if endpoint is not None:
        scheme, separator, host = endpoint.rpartition("://")
        options |= {"endpoint_override": host, "scheme": scheme if separator else "https"}
    if region is not None:
        options["region"] = region
    return Location(fs.S3FileSystem(**options), path.removeprefix(_S3).rstrip("/"), path)


def tables_at(location: Location) -> list[Location]:
    """The file at `location`, or the tables below it in name order when it is a folder.

    Raises `FileNotFoundError` when nothing is there.
    """
    filesystem = location.filesystem
    info = filesystem.get_file_info(location.path)
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError("there is nothing")
    if info.type != fs.FileType.Directory:
        return [location]
    found = filesystem.get_file_info(fs.FileSelector(location.path, recursive=True))
    paths = sorted(
        item.path
        for item in found
        if item.type == fs.FileType.File and item.path.endswith(SUFFIXES)
    )
    base = location.path.rstrip("/")
    name = location.name.rstrip("/")
    return [Location(filesystem, path, f"{name}{path.removeprefix(base)}") for path in paths]


@dataclass(frozen=True, slots=True)
class Table:
    """An open table: its schema, and a way to read some of its columns."""

    schema: pa.Schema
    _reader: Any

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """The rows of the table in order, at most `rows` at a time."""
        if isinstance(self._reader, pq.ParquetFile):
            yield from self._reader.iter_batches(batch_size=rows, columns=list(columns))
            return
        for batch in _ipc_batches(self._reader):
            chosen = batch.select(list(columns))
            for start in range(0, batch.num_rows, rows):
                yield chosen.slice(start, rows)


@contextmanager
def open_table(location: Location) -> Iterator[Table]:
    """Open a Parquet file or an Arrow IPC file or stream, told apart by their first bytes.

    Raises `pyarrow.ArrowInvalid` for anything else.
    """
    with location.filesystem.open_input_file(location.path) as file:
        magic = file.read(6)
        file.seek(0)
        if magic.startswith(b"PAR1"):
            reader: Any = pq.ParquetFile(file)
            schema = reader.schema_arrow
        else:
            is_file = magic == b"ARROW1"
            reader = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
            schema = reader.schema
        yield Table(schema, reader)


def _ipc_batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.ipc.RecordBatchFileReader):
        for index in range(reader.num_record_batches):
            yield reader.get_batch(index)
    else:
        yield from reader
