"""Documents from a file of JSON lines, as in the BEIR benchmarks."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from laya_signals import Component, ComponentConfig

from laya_index.document import Skipped, SourceDocument
from laya_index.errors import SourceError
from laya_index.source.decode import normalise_newlines


class JsonlSourceConfig(ComponentConfig):
    """Settings of `source.jsonl`: the file (plain or `.gz`) and the names of its fields."""

    path: Path
    id_field: str = "_id"
    title_field: str = "title"
    text_field: str = "text"
    media_type: str = "text/plain"


class JsonlSource(Component[JsonlSourceConfig]):
    """One document per line; further fields with plain values become its metadata.

    A line that is no JSON object, or has no usable id or text field, stops the run with a
    `SourceError` that names file and line. A document without any text is skipped.
    """

    Config = JsonlSourceConfig

    def read(self) -> Iterator[SourceDocument | Skipped]:
        """The documents in file order; blank lines are passed over."""
        path = self.config.path
        seen: dict[str, int] = {}
        try:
            with _open(path) as file:
                for number, line in enumerate(file, start=1):
                    if number == 1:
                        line = line.removeprefix(b"\xef\xbb\xbf")
                    if not line.strip():
                        continue
                    item = self._document(line, f"{path}:{number}")
                    if item.id in seen:
                        raise SourceError(
                            f"{path}:{number}: id {item.id!r} was already used "
                            f"on line {seen[item.id]}"
                        )
                    seen[item.id] = number
                    yield item
        except (OSError, EOFError, zlib.error) as error:
            raise SourceError(f"source.jsonl: cannot read {str(path)!r}: {error}") from error

    def _document(self, line: bytes, place: str) -> SourceDocument | Skipped:
        config = self.config
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise SourceError(f"{place}: not JSON: {error}") from error
        if not isinstance(row, dict):
            raise SourceError(f"{place}: a JSON object is wanted, not {type(row).__name__}")
        document_id = row.pop(config.id_field, None)
        if isinstance(document_id, int) and not isinstance(document_id, bool):
            document_id = str(document_id)
        if not isinstance(document_id, str) or not document_id:
            raise SourceError(f"{place}: no usable id in field {config.id_field!r}")
        if config.text_field not in row:
            raise SourceError(
                f"{place}: no field {config.text_field!r} in document {document_id!r}"
            )
        text = _text(row.pop(config.text_field), place, config.text_field)
        title = _text(row.pop(config.title_field, ""), place, config.title_field)
        if not text.strip():
            text = title  # a title alone is still worth finding
        metadata = {key: _scalar(value) for key, value in row.items() if _is_scalar(value)}
        try:
            "\0".join([document_id, text, title, *metadata, *metadata.values()]).encode()
        except UnicodeEncodeError:
            printable = document_id.encode("utf-8", "backslashreplace").decode()
            detail = "half of a surrogate pair"
            return Skipped(printable, "undecodable", detail, len(line), _digest(line))
        if not text.strip():
            return Skipped(document_id, "empty", "", len(line), _digest(line))
        return SourceDocument(
            id=document_id,
            text=text,
            title=title,
            media_type=config.media_type,
            uri=document_id,
            metadata=metadata,
        )


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _text(value: object, place: str, field: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise SourceError(f"{place}: field {field!r} must be a string, not {type(value).__name__}")
    return normalise_newlines(value)


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float | bool)


def _scalar(value: str | int | float | bool) -> str:
    return value if isinstance(value, str) else json.dumps(value)
