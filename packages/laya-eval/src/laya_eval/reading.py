"""Reading text files line by line, so that an error can say where it is."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from laya_eval.errors import DataError


def numbered_lines(path: Path) -> Iterator[tuple[str, str]]:
    """`file:line` and text of every line of `path`, plain or `.gz`, that is not blank.

    Line ends are taken off. Raises `DataError` when the file cannot be read as UTF-8.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield f"{path}:{number}", line.rstrip("\r\n")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise DataError(f"{path}: it cannot be read: {error}") from error


def json_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """`file:line` and content of every line; raises `DataError` for one that is no JSON object."""
    for place, line in numbered_lines(path):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{place}: no JSON: {error}") from error
        if not isinstance(row, dict):
            raise DataError(f"{place}: a JSON object is wanted, not {type(row).__name__}")
        yield place, row


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, as hex digits; raises `DataError` when it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: it cannot be read: {error}") from error
