"""Expensive per-text work, kept between runs by content and by what computed it."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laya_index.errors import BundleError

# SQLite's limit on placeholders in one statement is 32,766; smaller batches plan faster.
_BATCH = 500


def text_key(text: str) -> bytes:
    """The key of a text: its SHA-256."""
    return hashlib.sha256(text.encode()).digest()


class VectorCache:
    """Vectors of one encoder by text key, in one SQLite file.

    Workers read it while the run's main process writes; a killed run leaves what was committed.
    """

    def __init__(self, path: Path, dimension: int) -> None:
        self._dimension = dimension
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=60)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS vectors "
                "(key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
            )
        except (OSError, sqlite3.Error) as error:
            raise BundleError(
                f"cannot use the cache {str(path)!r}: {error}; delete it and run again"
            ) from error

    def get(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """The vectors that are there, `(dimension,)` float32 each."""
        found: dict[bytes, NDArray[np.float32]] = {}
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]
            marks = ",".join("?" * len(batch))
            rows = self._db.execute(
                f"SELECT key, vector FROM vectors WHERE key IN ({marks})",  # noqa: S608 - marks only
                batch,
            )
            for key, blob in rows:
                vector = np.frombuffer(blob, dtype=np.float32)
                if vector.shape == (self._dimension,):
                    found[key] = vector
        return found

    def put(self, items: Iterable[tuple[bytes, NDArray[np.float32]]]) -> None:
        """Add vectors, and commit."""
        rows = [(key, vector.tobytes()) for key, vector in items]
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    def keep_only(self, keys: Iterable[bytes]) -> None:
        """Forget every other vector."""
        with self._db:
            self._db.execute("CREATE TEMP TABLE kept (key BLOB PRIMARY KEY) WITHOUT ROWID")
            self._db.executemany("INSERT OR IGNORE INTO kept VALUES (?)", ((key,) for key in keys))
            self._db.execute("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM kept)")
            self._db.execute("DROP TABLE kept")

    def __len__(self) -> int:
        count: int = self._db.execute("SELECT count(*) FROM vectors").fetchone()[0]
        return count

    def close(self) -> None:
        """Close the file."""
        self._db.close()
