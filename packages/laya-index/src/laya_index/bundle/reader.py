"""Reading one snapshot of a bundle, whatever a writer does meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq

from laya_index.bundle.manifest import FileEntry, Manifest, read_manifest
from laya_index.errors import BundleError

_ATTEMPTS = 20


class BundleReader:
    """One manifest and its files, opened together.

    Every file is opened (memory-mapped) at once: a writer that replaces the bundle afterwards
    removes names, not what is open here. Where the writer was quicker, the new manifest is taken.
    """

    def __init__(
        self, path: Path, manifest: Manifest, files: dict[str, pa.MemoryMappedFile]
    ) -> None:
        self.path = path
        self.manifest = manifest
        self._files = files

    @classmethod
    def open(cls, path: Path) -> BundleReader:
        """Pin the bundle in folder `path` as it is now.

        Raises `ManifestError` when there is no readable manifest, and `BundleError` naming the
        file when one that it lists is missing or has another size.
        """
        missing = ""
        for attempt in range(_ATTEMPTS):
            manifest = read_manifest(path)
            files: dict[str, pa.MemoryMappedFile] = {}
            try:
                for entry in manifest.files:
                    files[entry.path] = _open(path, entry)
            except (BundleError, OSError) as error:
                for file in files.values():
                    file.close()
                if not isinstance(error, FileNotFoundError):
                    raise
                missing = entry.path
                if read_manifest(path) == manifest:
                    break
                time.sleep(0.01 * attempt)
            else:
                return cls(path, manifest, files)
        raise BundleError(
            f"{str(path / missing)!r} is named by the manifest but missing; "
            "build the bundle again with --full"
        )

    def read(self, kind: str, columns: Sequence[str] | None = None) -> pa.Table:
        """All rows of one kind of file, in manifest order.

        Raises `BundleError` when the bundle has no such file, or one cannot be read.
        """
        tables = []
        for entry, file in self._of_kind(kind):
            try:
                tables.append(pq.read_table(file, columns=columns, page_checksum_verification=True))
            except (pa.ArrowException, OSError) as error:
                raise self._unreadable(entry, error) from error
        return pa.concat_tables(tables)

    def batches(
        self, kind: str, columns: Sequence[str], *, rows: int = 8192
    ) -> Iterator[pa.RecordBatch]:
        """The same rows, at most `rows` at a time: for what does not fit into memory."""
        for entry, file in self._of_kind(kind):
            try:
                parquet = pq.ParquetFile(file, page_checksum_verification=True)
                yield from parquet.iter_batches(batch_size=rows, columns=list(columns))
            except (pa.ArrowException, OSError) as error:
                raise self._unreadable(entry, error) from error

    def schema(self, kind: str) -> pa.Schema:
        """The columns that all files of one kind have; raises `BundleError` like `read`."""
        entry, file = next(self._of_kind(kind))
        try:
            return pq.read_schema(file)
        except (pa.ArrowException, OSError) as error:
            raise self._unreadable(entry, error) from error

    def _of_kind(self, kind: str) -> Iterator[tuple[FileEntry, pa.MemoryMappedFile]]:
        entries = self.manifest.of_kind(kind)
        if not entries:
            raise BundleError(f"bundle {str(self.path)!r} has no {kind} file")
        for entry in entries:
            file = self._files[entry.path]
            file.seek(0)
            yield entry, file

    def _unreadable(self, entry: FileEntry, error: Exception) -> BundleError:
        return BundleError(f"cannot read {str(self.path / entry.path)!r}: {error}")

    def close(self) -> None:
        """Let go of the files."""
        for file in self._files.values():
            file.close()

    def __enter__(self) -> BundleReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _open(bundle: Path, entry: FileEntry) -> pa.MemoryMappedFile:
    path = bundle / entry.path
    try:
        file = pa.memory_map(str(path))
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise BundleError(f"cannot read {str(path)!r}: {error}") from error
    if (size := file.size()) != entry.bytes:
        file.close()
        raise BundleError(
            f"{str(path)!r} has {size} bytes, the manifest says {entry.bytes}; "
            "build the bundle again with --full"
        )
    return file
