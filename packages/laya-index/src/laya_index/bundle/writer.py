"""Writing a bundle so that a reader never sees half of one."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from laya_index.bundle.manifest import FILE_NAME, FileEntry, Manifest
from laya_index.bundle.schema import FOLDERS, SIDECAR_KINDS, parquet_options, write_table
from laya_index.errors import BundleError

_TEMPORARY = ".tmp-"
# What `_adopt` calls files; whatever else lies in the folder is not ours to remove.
_SHARDED = "|".join((*FOLDERS, *SIDECAR_KINDS))
_OURS = re.compile(rf"(?:[a-z0-9-]+-|(?:{_SHARDED})/[0-9]{{3}}-)[0-9a-f]{{16}}\.parquet")


class BundleWriter:
    """Adds files to a bundle's folder and commits them by replacing its manifest.

    Files are named by their content, so that adding one never disturbs the bundle that is there;
    each is flushed to disk before it gets its name. Until `commit` has replaced the manifest,
    readers see the old bundle; afterwards what the new manifest does not name is removed. The
    folder of a sidecar kind is there only while it has files: a stack without that signal leaves
    no trace of it. Hold `writer_lock` around all of it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            for folder in (path, *(path / name for name in FOLDERS)):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BundleError(f"cannot write to {str(path)!r}: {error.strerror}") from error

    def add_table(
        self,
        table: pa.Table,
        kind: str,
        *,
        shard: int | None = None,
        inputs: str | None = None,
    ) -> FileEntry:
        """Write `table` as a file of its own, and give its manifest entry."""
        temporary = self._temporary(kind)
        try:
            if kind in SIDECAR_KINDS:
                (self.path / kind).mkdir(exist_ok=True)
            write_table(table, temporary)
        except OSError as error:
            raise self._failed(error) from error
        return self._adopt(temporary, kind, table.num_rows, shard, inputs)

    def stream(self, kind: str, schema: pa.Schema) -> StreamedFile:
        """A file written table by table; `StreamedFile.close` gives its manifest entry."""
        return StreamedFile(self, kind, schema)

    def commit(self, manifest: Manifest) -> None:
        """Make `manifest` the bundle, then remove what it does not name."""
        temporary = self.path / f"{_TEMPORARY}{FILE_NAME}"
        try:
            temporary.write_text(manifest.to_json(), encoding="utf-8")
            for folder in (*FOLDERS, *(kind for kind in SIDECAR_KINDS if manifest.of_kind(kind))):
                _sync(self.path / folder)
            _sync(temporary)
            _sync(self.path)
            temporary.replace(self.path / FILE_NAME)
            _sync(self.path)
        except OSError as error:
            raise self._failed(error) from error
        self.clean(manifest.files)

    def clean(self, keep: Iterable[FileEntry]) -> None:
        """Remove every file of ours in the bundle's folder that `keep` does not name."""
        kept = {entry.path for entry in keep}
        try:
            for path in self.path.glob(f"{_TEMPORARY}*"):
                path.unlink(missing_ok=True)
            for folder in (".", *FOLDERS, *SIDECAR_KINDS):
                for path in (self.path / folder).glob("*.parquet"):
                    name = path.relative_to(self.path).as_posix()
                    if name not in kept and _OURS.fullmatch(name):
                        path.unlink(missing_ok=True)
            for kind in SIDECAR_KINDS:
                beside = self.path / kind
                if beside.is_dir() and not any(beside.iterdir()):
                    beside.rmdir()
        except OSError as error:
            raise self._failed(error) from error

    def _temporary(self, kind: str) -> Path:
        return self.path / f"{_TEMPORARY}{kind}"

    def _failed(self, error: OSError) -> BundleError:
        return BundleError(f"cannot write {str(self.path)!r}: {error.strerror or error}")

    def _adopt(
        self, temporary: Path, kind: str, rows: int, shard: int | None, inputs: str | None
    ) -> FileEntry:
        try:
            _sync(temporary)
            with temporary.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            name = f"{kind}-{digest[:16]}" if shard is None else f"{kind}/{shard:03d}-{digest[:16]}"
            size = temporary.stat().st_size
            temporary.replace(self.path / f"{name}.parquet")
        except OSError as error:
            raise self._failed(error) from error
        return FileEntry(
            path=f"{name}.parquet",
            kind=kind,
            rows=rows,
            bytes=size,
            sha256=digest,
            shard=shard,
            inputs=inputs,
        )


class StreamedFile:
    """A file of a bundle that is too large to hold as one table."""

    def __init__(self, writer: BundleWriter, kind: str, schema: pa.Schema) -> None:
        self._writer = writer
        self._kind = kind
        self._path = writer._temporary(kind)
        self._rows = 0
        try:
            self._parquet = pq.ParquetWriter(self._path, schema, **parquet_options(schema))
        except OSError as error:
            raise writer._failed(error) from error

    def write(self, table: pa.Table) -> None:
        """Append rows."""
        try:
            self._parquet.write_table(table)
        except OSError as error:
            raise self._writer._failed(error) from error
        self._rows += table.num_rows

    def close(self, *, inputs: str | None = None) -> FileEntry:
        """Finish the file and give its manifest entry."""
        try:
            self._parquet.close()
        except OSError as error:
            raise self._writer._failed(error) from error
        return self._writer._adopt(self._path, self._kind, self._rows, None, inputs)


def _sync(path: Path) -> None:
    """Flush a file or a folder to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
