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

    A text has one vector, `(dimension,)` float32, or with `ragged` any number, `(n, dimension)`.

    Workers read it while the run's main process writes; a killed run leaves what was committed. A
    damaged file is begun afresh: all that is lost is time.
    """

    def __init__(self, path: Path, dimension: int, *, ragged: bool = False) -> None:
        self._path = path
        self._dimension = dimension
        self._ragged = ragged
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._failed(error) from error
        self._connect()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """The arrays that are there."""
        found: dict[bytes, NDArray[np.float32]] = {}
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]
            marks = ",".join("?" * len(batch))
            try:
                rows = self._db.execute(
                    f"SELECT key, vector FROM vectors WHERE key IN ({marks})",  # noqa: S608 - marks
                    batch,
                ).fetchall()
            except sqlite3.DatabaseError:
                continue  # as good as not there; `put` will mend it
            for key, blob in rows:
                count, odd = divmod(len(blob), 4 * self._dimension)
                if odd or (count != 1 and not self._ragged):
                    continue
                flat = np.frombuffer(blob, dtype=np.float32)
                found[key] = flat.reshape(-1, self._dimension) if self._ragged else flat
        return found

    def put(self, items: Iterable[tuple[bytes, NDArray[np.float32]]]) -> None:
        """Add vectors, and commit."""
        rows = [(key, vector.tobytes()) for key, vector in items]
        try:
            self._insert(rows)
        except sqlite3.OperationalError as error:
            raise self._failed(error) from error
        except sqlite3.DatabaseError:
            self._begin_afresh()
            self._insert(rows)

    def clear(self) -> None:
        """Forget every vector."""
        self.keep_only(())

    def keep_only(self, keys: Iterable[bytes]) -> None:
        """Forget every other vector."""
        try:
            with self._db:
                self._db.execute("CREATE TEMP TABLE kept (key BLOB PRIMARY KEY) WITHOUT ROWID")
                self._db.executemany(
                    "INSERT OR IGNORE INTO kept VALUES (?)", ((key,) for key in keys)
                )
                self._db.execute("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM kept)")
                self._db.execute("DROP TABLE kept")
        except sqlite3.OperationalError as error:
            raise self._failed(error) from error
        except sqlite3.DatabaseError:
            self._begin_afresh()

    def __len__(self) -> int:
        try:
            count: int = self._db.execute("SELECT count(*) FROM vectors").fetchone()[0]
        except sqlite3.DatabaseError:
            return 0
        return count

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _insert(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    def _connect(self) -> None:
        try:
            self._open()
        except sqlite3.OperationalError as error:
            raise self._failed(error) from error
        except sqlite3.DatabaseError:
            self._begin_afresh()

    def _begin_afresh(self) -> None:
        self._db.close()
        try:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            self._open()
        except (OSError, sqlite3.Error) as error:
            raise self._failed(error) from error

    def _open(self) -> None:
        self._db = sqlite3.connect(self._path, timeout=60)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )

    def _failed(self, error: Exception) -> BundleError:
        return BundleError(
            f"cannot use the cache {str(self._path)!r}: {error}; delete it and run again"
        )
