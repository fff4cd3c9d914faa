"""Documents from a table: Parquet or Arrow IPC, on this machine or in S3."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from laya_signals import Component, ComponentConfig
from pydantic import Field

from laya_index.document import Skipped, SourceDocument
from laya_index.errors import SourceError
from laya_index.source.decode import normalise_newlines
from laya_index.source.table import SUFFIXES, Location, Table, locate, open_table, tables_at


class ParquetSourceConfig(ComponentConfig):
    """Settings of `source.parquet`: where the table is, and the names of its columns.

    `path` is a file or a folder of tables, local or `s3://bucket/key`. `endpoint_override`
    (`http://host:port`) and `region` are for S3 alone; credentials come from the environment.
    `title_column` may be missing in the table. `metadata_columns` narrows the columns that become
    metadata; by default all others with plain values do. `batch_rows` rows are held at a time.
    """

    path: str = Field(min_length=1)
    id_column: str = "id"
    text_column: str = "text"
    title_column: str = "title"
    metadata_columns: tuple[str, ...] | None = None
    media_type: str = "text/plain"
    endpoint_override: str | None = None
    region: str | None = None
    batch_rows: int = Field(default=1024, gt=0)


@dataclass(frozen=True, slots=True)
class _Invalid:
    """A value that is no UTF-8."""

    data: bytes


class ParquetSource(Component[ParquetSourceConfig]):
    """One document per row; further columns with plain values become its metadata.

    The id column holds strings or integers. A missing column, one of the wrong type, and a row
    without a usable id stop the run with a `SourceError` that names file and row (counted from 1).
    A row without any text is skipped, as is one whose values are no UTF-8.
    """

    Config = ParquetSourceConfig

    def read(self) -> Iterator[SourceDocument | Skipped]:
        """The documents in row order; of a folder, file by file in name order."""
        config = self.config
        seen: dict[str, str] = {}
        place = config.path
        try:
            where = locate(config.path, config.endpoint_override, config.region)
            files = tables_at(where)
            if not files:
                kinds = ", ".join(SUFFIXES)
                raise SourceError(f"source.parquet: folder {place!r} has no file {kinds}")
            for file in files:
                place = file.name
                for number, item in enumerate(self._documents(file), start=1):
                    place = f"{file.name}: row {number}"
                    if item.id in seen:
                        first = seen[item.id]
                        raise SourceError(f"{place}: id {item.id!r} was already used in {first}")
                    seen[item.id] = place
                    yield item
        except (OSError, pa.ArrowException) as error:
            raise SourceError(f"source.parquet: cannot read {place!r}: {error}") from error

    def _documents(self, file: Location) -> Iterator[SourceDocument | Skipped]:
        with open_table(file) as table:
            columns = self._columns(table, file.name)
            number = 0
            for batch in table.batches(columns, self.config.batch_rows):
                values = [_values(batch.column(name)) for name in columns]
                for row in zip(*values, strict=True):
                    number += 1
                    place = f"{file.name}: row {number}"
                    yield self._document(dict(zip(columns, row, strict=True)), place)

    def _columns(self, table: Table, name: str) -> list[str]:
        """The columns to read; raises `SourceError` when one is missing or of the wrong type."""
        config, schema = self.config, table.schema
        for column in {column for column in schema.names if schema.names.count(column) > 1}:
            raise SourceError(f"{name}: two columns are called {column!r}")
        for column in (config.id_column, config.text_column, *(config.metadata_columns or ())):
            if column not in schema.names:
                known = ", ".join(map(repr, schema.names))
                raise SourceError(f"{name}: no column {column!r}; there are {known}")
        has_title = config.title_column in schema.names
        for column in (config.text_column, *([config.title_column] if has_title else [])):
            kind = schema.field(column).type
            if not _is_text(kind) and not pa.types.is_null(kind):
                raise SourceError(f"{name}: column {column!r} must hold strings, not {kind}")
        kind = schema.field(config.id_column).type
        if not _is_text(kind) and not pa.types.is_integer(kind):
            raise SourceError(
                f"{name}: column {config.id_column!r} must hold strings or integers, not {kind}"
            )
        own = {config.id_column, config.text_column, config.title_column}
        for column in config.metadata_columns or ():
            if not _is_plain(schema.field(column).type):
                kind = schema.field(column).type
                raise SourceError(f"{name}: column {column!r} is no metadata: it holds {kind}")
        metadata = config.metadata_columns
        if metadata is None:
            metadata = tuple(field.name for field in schema if _is_plain(field.type))
        title = [config.title_column] if has_title else []
        more = [column for column in dict.fromkeys(metadata) if column not in own]
        return [config.id_column, config.text_column, *title, *more]

    def _document(self, row: dict[str, Any], place: str) -> SourceDocument | Skipped:
        config = self.config
        raw_id = row.pop(config.id_column)
        document_id = str(raw_id) if isinstance(raw_id, int) else raw_id
        if not isinstance(document_id, str) or not document_id:
            raise SourceError(f"{place}: no usable id in column {config.id_column!r}")
        for name, value in row.items():
            if isinstance(value, _Invalid):
                digest = hashlib.sha256(value.data).hexdigest()
                detail = f"column {name!r} is no UTF-8"
                return Skipped(document_id, "undecodable", detail, len(value.data), digest)
        text = normalise_newlines(row.pop(config.text_column) or "")
        title = normalise_newlines(row.pop(config.title_column, None) or "")
        if not text.strip():
            text = title  # a title alone is still worth finding
        metadata = {name: _scalar(value) for name, value in row.items() if value is not None}
        if not text.strip():
            return Skipped(document_id, "empty", "", 0, _digest(metadata))
        return SourceDocument(
            id=document_id,
            text=text,
            title=title,
            media_type=config.media_type,
            uri=document_id,
            metadata=metadata,
        )


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_moment(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_timestamp(kind))


def _is_plain(kind: pa.DataType) -> bool:
    types = pa.types
    return (
        _is_text(kind)
        or _is_moment(kind)
        or any(
            holds(kind)
            for holds in (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)
        )
    )


def _values(column: pa.Array) -> list[Any]:
    """The column's values in Python; `_Invalid` for a string that is no UTF-8."""
    if _is_moment(column.type):
        column = column.cast(pa.string())  # Python's own types hold no nanoseconds
    try:
        values: list[Any] = column.to_pylist()
    except UnicodeDecodeError:
        values = [_value(item) for item in column]
    return values


def _value(item: pa.Scalar) -> Any:
    try:
        return item.as_py()
    except UnicodeDecodeError:
        return _Invalid(item.cast(pa.binary()).as_py())


def _scalar(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool | int | float) else str(value)


def _digest(metadata: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(sorted(metadata.items())).encode()).hexdigest()
