"""One heavy job at a time on a machine: two would spoil each other's times, and both be slow."""

from __future__ import annotations

import getpass
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from laya_eval.errors import BusyError


@contextmanager
def heavy_job(what: str) -> Iterator[None]:
    """Hold this user's lock for heavy jobs, which lies in the folder for temporary files.

    The operating system frees it when the holder ends, however it ends. Raises `BusyError`, naming
    the job that has it.
    """
    lock = FileLock(lock_file())
    note = lock_file().with_suffix(".json")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise BusyError(
            f"one heavy job at a time: {_holder(note)} is running; wait for it to end"
        ) from error
    try:
        note.write_text(json.dumps({"what": what, "pid": os.getpid()}), encoding="utf-8")
        yield
    finally:
        note.unlink(missing_ok=True)
        lock.release()


def lock_file() -> Path:
    """Where the lock lies: one for each user of the machine."""
    return Path(tempfile.gettempdir()) / f"laya-heavy-job-{getpass.getuser()}.lock"


def _holder(note: Path) -> str:
    try:
        data = json.loads(note.read_text(encoding="utf-8"))
        return f"{data['what']} (process {data['pid']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another one"
