"""A folder of arrays: written once, memory-mapped by any number of processes."""

from __future__ import annotations

import hashlib
import json
import mmap
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from laya_rag.errors import CacheError

INDEX = "arrays.json"
#: Whole blocks of any matrix with this many rows begin and end on a page.
BLOCK = 4096

# Letting go of less than this is not worth the system call.
_WORTH_RELEASING = 1 << 18
_DONT_NEED: int | None = getattr(mmap, "MADV_DONTNEED", None)


class ArrayWriter:
    """Fills a folder; `finish` writes the index without which it is no folder of arrays."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._shapes: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {}
        self._foreign: list[str] = []

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Write `array` as a whole."""
        with self.stream(name, array.dtype, array.shape[1:]) as stream:
            stream.append(array)

    def stream(self, name: str, dtype: DTypeLike, row: tuple[int, ...] = ()) -> ArrayStream:
        """An array written piece by piece, whose rows have the shape `row`."""
        return ArrayStream(self, name, np.dtype(dtype), row)

    def scratch(self, name: str, dtype: DTypeLike, length: int) -> NDArray[Any]:
        """A one-dimensional array of `length` to be filled in any order, on disk."""
        self._shapes[name] = (np.dtype(dtype), (length,))
        if not length:
            (self.folder / name).touch()
            return np.empty(0, dtype)
        return np.memmap(self.folder / name, dtype=dtype, mode="w+", shape=(length,))

    def foreign(self, name: str) -> Path:
        """Where to write a file that is no array, but belongs to the folder."""
        self._foreign.append(name)
        return self.folder / name

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Write the index: every file's size, time and hash, and `facts`, which are JSON."""
        files: dict[str, dict[str, Any]] = {}
        for name in (*self._shapes, *self._foreign):
            path = self.folder / name
            status = path.stat()
            files[name] = {
                "bytes": status.st_size,
                "mtime_ns": status.st_mtime_ns,
                "sha256": _digest(path),
            }
        for name, (dtype, shape) in self._shapes.items():
            files[name] |= {"dtype": dtype.str, "shape": list(shape)}
        text = json.dumps({"facts": dict(facts), "files": files})
        (self.folder / INDEX).write_text(text, encoding="utf-8")


class ArrayStream:
    """Appends rows to one array of a folder."""

    def __init__(
        self, writer: ArrayWriter, name: str, dtype: np.dtype[Any], row: tuple[int, ...]
    ) -> None:
        self._writer = writer
        self._name = name
        self._dtype = dtype
        self._row = row
        self._rows = 0
        self._file: IO[bytes] = (writer.folder / name).open("wb")

    def append(self, rows: NDArray[Any]) -> None:
        """Write `rows`, `(n, *row)`, behind what is there."""
        self._file.write(np.ascontiguousarray(rows, self._dtype).data)
        self._rows += len(rows)

    def close(self) -> None:
        """Finish the file."""
        self._file.close()
        self._writer._shapes[self._name] = (self._dtype, (self._rows, *self._row))

    def __enter__(self) -> ArrayStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class ArrayFolder:
    """The arrays of a folder, mapped at once: removing the folder does not disturb them.

    What is read stays in the page cache of the operating system, which it takes back when it needs
    memory; `release` also takes it off this process's account. Raises `FileNotFoundError` when
    there is no such folder, and `CacheError` when a file of it is missing or not as it was written.
    """

    def __init__(self, folder: Path) -> None:
        text = (folder / INDEX).read_bytes()
        try:
            index = json.loads(text)
            self.facts: Mapping[str, Any] = index["facts"]
            entries = {
                name: _Entry(folder / name, fields) for name, fields in index["files"].items()
            }
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CacheError(f"{str(folder / INDEX)!r} is damaged") from error
        self._arrays: dict[str, NDArray[Any]] = {}
        self._maps: dict[str, mmap.mmap] = {}
        for name, entry in entries.items():
            mapped = entry.open()
            if entry.shape is None:
                continue
            if mapped is None:
                self._arrays[name] = np.empty(entry.shape, entry.dtype)
            else:
                self._maps[name] = mapped
                self._arrays[name] = np.frombuffer(mapped, entry.dtype).reshape(entry.shape)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def get(self, name: str) -> NDArray[Any] | None:
        """An array that need not be there."""
        return self._arrays.get(name)

    def bytes(self, name: str) -> memoryview:
        """A one-dimensional array of bytes as a view that slices quickly."""
        return self._arrays[name].data

    def release(self) -> None:
        """Take what was read of the larger files off this process's account."""
        if _DONT_NEED is not None:
            for mapped in self._maps.values():
                if len(mapped) >= _WORTH_RELEASING:
                    mapped.madvise(_DONT_NEED)

    def blocks(self, name: str) -> Iterator[tuple[int, NDArray[Any]]]:
        """First row and rows of every block of a matrix, each released when the next is taken."""
        matrix = self._arrays[name]
        mapped = self._maps.get(name)
        for start in range(0, len(matrix), BLOCK):
            block = matrix[start : start + BLOCK]
            yield start, block
            if mapped is not None and _DONT_NEED is not None:
                mapped.madvise(_DONT_NEED, start * matrix.strides[0], block.nbytes)


class _Entry:
    """One file of the index."""

    def __init__(self, path: Path, fields: Mapping[str, Any]) -> None:
        self.path = path
        self.bytes = int(fields["bytes"])
        self.mtime_ns = int(fields["mtime_ns"])
        self.sha256 = str(fields["sha256"])
        self.dtype = np.dtype(fields.get("dtype", "u1"))
        self.shape = tuple(fields["shape"]) if "shape" in fields else None

    def open(self) -> mmap.mmap | None:
        """The file, mapped; None for an empty one."""
        with self.path.open("rb") as file:
            status = self.path.stat()
            if status.st_size != self.bytes:
                raise CacheError(
                    f"{str(self.path)!r} has {status.st_size} bytes instead of {self.bytes}"
                )
            # A copy has another time; whether it is a good one takes reading it.
            if status.st_mtime_ns != self.mtime_ns and _digest(self.path) != self.sha256:
                raise CacheError(f"{str(self.path)!r} is not as it was written")
            if not self.bytes:
                return None
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
