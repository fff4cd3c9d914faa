"""The files of a bundle against its manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from laya_index.bundle.manifest import FILE_NAME, FileEntry, Manifest
from laya_index.integrity.report import FileProblem

_BLOCK = 1 << 20


def check_files(bundle: Path, manifest: Manifest) -> list[FileProblem]:
    """Everything that is wrong, by path.

    A Parquet file's pages carry checksums, its footer none; so every byte is hashed.
    """
    problems: list[FileProblem] = []
    for entry in manifest.files:
        problems += _problem(bundle, entry)
    problems += _totals(manifest)
    problems += _strays(bundle, manifest)
    return sorted(problems)


def _problem(bundle: Path, entry: FileEntry) -> Iterator[FileProblem]:
    path = bundle / entry.path
    hashed = hashlib.sha256()
    size = 0
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                hashed.update(block)
                size += len(block)
    except FileNotFoundError:
        yield FileProblem(entry.path, "missing", "the manifest names it")
        return
    except OSError as error:
        yield FileProblem(entry.path, "unreadable", error.strerror or str(error))
        return
    if size != entry.bytes:
        yield FileProblem(entry.path, "size", f"{size} bytes; the manifest says {entry.bytes}")
    elif hashed.hexdigest() != entry.sha256:
        yield FileProblem(entry.path, "hash", "its SHA-256 is not the one in the manifest")
    else:
        yield from _rows(path, entry)


def _rows(path: Path, entry: FileEntry) -> Iterator[FileProblem]:
    try:
        rows = pq.read_metadata(path).num_rows
    except (pa.ArrowException, OSError) as error:
        yield FileProblem(entry.path, "unreadable", str(error).splitlines()[0])
        return
    if rows != entry.rows:
        yield FileProblem(entry.path, "rows", f"{rows} rows; the manifest says {entry.rows}")


def _totals(manifest: Manifest) -> Iterator[FileProblem]:
    for kind, total in (
        ("documents", manifest.counts.documents),
        ("chunks", manifest.counts.chunks),
        ("bm25-terms", manifest.counts.terms),
    ):
        entries = manifest.of_kind(kind)
        rows = sum(entry.rows for entry in entries)
        if entries and rows != total:
            detail = f"counts {total} of {kind}; its files have {rows}"
            yield FileProblem(FILE_NAME, "totals", detail)


def _strays(bundle: Path, manifest: Manifest) -> Iterator[FileProblem]:
    known = {FILE_NAME, *(entry.path for entry in manifest.files)}
    for path in bundle.rglob("*"):
        name = path.relative_to(bundle).as_posix()
        if name not in known and not path.is_dir():
            yield FileProblem(name, "stray", "the manifest does not name it")
