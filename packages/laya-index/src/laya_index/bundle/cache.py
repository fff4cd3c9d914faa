"""Where the cache of a bundle keeps what: beside it, safe to delete while nothing writes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from laya_index.bundle.schema import write_table
from laya_index.errors import BundleError


def cache_folder(bundle: Path) -> Path:
    """Where the cache of the bundle in folder `bundle` lives: beside it, safe to delete."""
    return bundle.with_name(f"{bundle.name}.cache")


def postings_file(cache: Path, index: int, inputs: str) -> Path:
    """Where the cache keeps a shard's postings, whose ordinals count the shard's chunks from 0."""
    return cache / "postings" / f"{index:03d}-{inputs}.parquet"


def mentions_file(cache: Path, index: int, inputs: str) -> Path:
    """Where the cache keeps what a shard's chunks mention, which are counted from 0 too."""
    return cache / "mentions" / f"{index:03d}-{inputs}.parquet"


def keep_table(table: pa.Table, target: Path) -> None:
    """Put a table into the cache, whole or not at all."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_suffix(".tmp")
        write_table(table, temporary)
        temporary.replace(target)
    except OSError as error:
        raise BundleError(f"cannot write {str(target)!r}: {error}") from error
