"""A log of what was changed, in which a changed, missing or added line shows.

JSON lines, each with the hash of the one before it. Whoever can write the file can write it anew
from any line on; against that, keep a head (the hash of the last line) somewhere else.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from laya_rag.errors import RagError

#: The head of a log without entries.
GENESIS = "0" * 64

_BLOCK = 64 * 1024


class AuditError(RagError):
    """An audit log is not whole, or cannot be written; `line` is the first that is wrong, from 1.

    `line` is None where no single line is to blame.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class AuditState:
    """How many entries a log has, and the hash of the last."""

    entries: int
    head: str


class AuditLog:
    """Appends to a log; several processes may write to one file. Thread-safe."""

    def __init__(self, path: Path) -> None:
        """Check what is there already; raises `AuditError`, also where it cannot be written."""
        self.path = path
        self._thread = threading.Lock()
        self._process = FileLock(path.with_name(f"{path.name}.lock"))
        try:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            with self._process:
                self.begun = verify(path)
        except OSError as error:
            raise AuditError(f"cannot write {str(path)!r}: {error.strerror}") from error

    def append(self, **entry: Any) -> None:
        """Write an entry, to the disk before this returns; raises `AuditError`, and then no part.

        `entry` is plain JSON; the number, the time and the hashes are added.
        """
        try:
            with self._thread, self._process, self.path.open("r+b") as file:
                end = file.seek(0, os.SEEK_END)
                last = _last(file, end, self.path)
                line = _line(
                    {
                        "entry": 1 if last is None else last["entry"] + 1,
                        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                        **entry,
                        "previous": GENESIS if last is None else last["hash"],
                    }
                )
                file.seek(end)
                try:
                    file.write(line)
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:
                    os.ftruncate(file.fileno(), end)
                    raise
        except OSError as error:
            raise AuditError(f"cannot write {str(self.path)!r}: {error.strerror}") from error


def verify(path: Path, head: str | None = None) -> AuditState:
    """The state of a log whose every line follows from the one before.

    With `head`, some line must have that hash: lines behind it came later, but none up to it is
    missing. Raises `AuditError` naming the first line that is wrong.
    """
    state = AuditState(0, GENESIS)
    seen = head is None or head == GENESIS
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                state = _follows(line, number, state)
                seen = seen or state.head == head
    except OSError as error:
        raise AuditError(f"cannot read {str(path)!r}: {error.strerror}") from error
    if not seen:
        raise AuditError(
            f"no line has the hash {head}: the end of the log was cut off, or it is another log"
        )
    return state


def _follows(line: bytes, number: int, before: AuditState) -> AuditState:
    if not line.endswith(b"\n"):
        raise AuditError(f"line {number} is cut off", number)
    try:
        entry = json.loads(line)
        stated = entry.pop("hash")
        previous, place = entry["previous"], entry["entry"]
    except (ValueError, KeyError, AttributeError, TypeError):
        raise AuditError(f"line {number} is no entry", number) from None
    if line != _line(entry) or stated != _hash(entry):
        raise AuditError(f"line {number} was changed: its hash is another", number)
    if previous != before.head or place != number:
        raise AuditError(f"line {number} does not follow line {number - 1}", number)
    return AuditState(number, stated)


def _last(file: Any, end: int, path: Path) -> dict[str, Any] | None:
    """The last entry of an open log; raises `AuditError` where it is none."""
    if end == 0:
        return None
    line = b""
    for block in _backwards(file, end):
        line = block + line
        if b"\n" in line[:-1]:
            break
    line = line[:-1].rpartition(b"\n")[2] + line[-1:]
    try:
        entry: dict[str, Any] = json.loads(line)
        number = entry["entry"]
        _follows(line, number, AuditState(number - 1, entry["previous"]))
    except (ValueError, KeyError, TypeError, AuditError):
        raise AuditError(f"the last line of {str(path)!r} is broken: see laya audit verify") from (
            None
        )
    return entry


def _backwards(file: Any, end: int) -> Iterator[bytes]:
    while end > 0:
        begin = max(0, end - _BLOCK)
        file.seek(begin)
        yield file.read(end - begin)
        end = begin


def _line(entry: dict[str, Any]) -> bytes:
    return _packed({**entry, "hash": _hash(entry)}) + b"\n"


def _hash(entry: dict[str, Any]) -> str:
    return hashlib.sha256(_packed(entry)).hexdigest()


def _packed(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
