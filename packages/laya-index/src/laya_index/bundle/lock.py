"""One writer at a time."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from laya_index.errors import BundleError, LockedError


@contextmanager
def writer_lock(cache: Path, bundle: Path) -> Iterator[None]:
    """Hold the writer's lock of `bundle`, which lives in its cache folder.

    The operating system frees the lock when the holder ends, however it ends. Raises
    `LockedError`, naming the holder, when another process has it, and `BundleError` when the
    folder cannot be written.
    """
    holder = cache / "holder.json"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock = FileLock(cache / "lock")
        lock.acquire(timeout=0)
    except Timeout as error:
        raise LockedError(
            f"{str(bundle)!r} is being written by {_holder(holder)}; "
            "wait for it to end, or write elsewhere with --out"
        ) from error
    except OSError as error:
        raise BundleError(f"cannot write to {str(bundle.parent)!r}: {error.strerror}") from error
    try:
        try:
            holder.write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
        except OSError as error:
            raise BundleError(f"cannot write {str(holder)!r}: {error.strerror}") from error
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _holder(path: Path) -> str:
    try:
        data = json.loads(path.read_text())
        return f"process {data['pid']} on {data['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
