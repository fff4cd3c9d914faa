"""How a stream of bytes comes apart: server-sent events, and JSON line by line.

Both are read the same however the bytes were split on their way. Server-sent events follow the
WHATWG standard, chapter 9.2 of the HTML specification, and are lenient in one point: a line that
begins with a brace is an event of its own, for some servers drop an error into their stream bare.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from laya_rag.compose.errors import ModelServerError

#: Bytes that one event may have.
MAX_EVENT = 2**20

_BOM = b"\xef\xbb\xbf"
_DONE = b"[DONE]"


def sse_objects(chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The object of each event, up to `[DONE]`; what an unfinished event says is dropped.

    An event of the name `error` comes as the object `{"error": …}`. Raises `ModelServerError` for
    data that is no object, and for an event of more than `MAX_EVENT` bytes.
    """
    data: list[bytes] = []
    name = b""
    for line, ended in _lines(chunks):
        if line.startswith(b"{") and ended:
            yield _object(line)
        elif not line and ended:
            joined = b"\n".join(data).strip()
            if joined == _DONE:
                return
            if joined:
                found = _object(joined)
                yield {"error": found} if name == b"error" and "error" not in found else found
            data, name = [], b""
        else:
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if field == b"data":
                data.append(value)
                _check_size(sum(map(len, data)))
            elif field == b"event":
                name = value


def line_objects(chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The object on each line; a last line without an end counts if it is whole.

    Raises `ModelServerError` for a line that is no object, or of more than `MAX_EVENT` bytes.
    """
    for line, ended in _lines(chunks):
        if not line.strip():
            continue
        try:
            found = _object(line)
        except ModelServerError:
            if ended:
                raise
            return  # the stream was cut off inside it
        yield found


def _lines(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Each line without its end, and whether it had one; ends are CR, LF or both."""
    parts: list[bytes] = []
    size = 0
    first, after_cr = True, False
    for chunk in chunks:
        if after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            after_cr = False
        for part in chunk.splitlines(keepends=True):
            parts.append(part)
            size += len(part)
            _check_size(size)
            if part.endswith((b"\n", b"\r")):
                line = b"".join(parts).rstrip(b"\r\n")
                yield line.removeprefix(_BOM) if first else line, True
                parts, size, first = [], 0, False
                after_cr = part.endswith(b"\r")
        after_cr = after_cr and not parts
    if parts:
        line = b"".join(parts)
        yield line.removeprefix(_BOM) if first else line, False


def _object(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelServerError(
            "bad_response", "the language model's server sent what is no JSON"
        ) from error
    if not isinstance(found, dict):
        raise ModelServerError(
            "bad_response", "the language model's server sent JSON that is no object"
        )
    return found


def _check_size(size: int) -> None:
    if size > MAX_EVENT:
        raise ModelServerError(
            "too_large", f"the language model's server sent an event of more than {MAX_EVENT} bytes"
        )
