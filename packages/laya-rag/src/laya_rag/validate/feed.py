"""The sample corpus in the form that a stack's own source reads."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from laya_index.document import Skipped
from laya_index.source.files import FilesSource
from laya_index.source.jsonl import JsonlSource
from laya_index.source.parquet import ParquetSource
from laya_signals import ProviderBlock

# Settings that say how documents are read, not which: these stay the stack's own.
_KEPT = {
    "source.jsonl": ("id_field", "title_field", "text_field", "media_type"),
    "source.parquet": ("id_column", "text_column", "title_column", "media_type", "batch_rows"),
}


def feed(source: ProviderBlock, files: Mapping[str, bytes], folder: Path) -> ProviderBlock:
    """Write `files` into `folder`, whatever was there, and give the block that reads them.

    A stack over JSON lines or a table gets one, made of the documents that `source.files` finds,
    with their titles and metadata; every other stack gets the files.
    """
    shutil.rmtree(folder, ignore_errors=True)
    below = folder / "files"
    below.mkdir(parents=True)
    for name, content in files.items():
        path = below / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    config: dict[str, Any] = {
        key: source.config[key] for key in _KEPT.get(source.provider, ()) if key in source.config
    }
    if source.provider == "source.jsonl":
        packed = str(source.config.get("path", "")).endswith(".gz")
        path = folder / ("corpus.jsonl.gz" if packed else "corpus.jsonl")
        fields = JsonlSource(path=path, **config).config
        rows = _rows(below, fields.id_field, fields.title_field, fields.text_field)
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
        path.write_bytes(gzip.compress(lines, mtime=0) if packed else lines)
        return ProviderBlock(provider=source.provider, config={"path": str(path), **config})
    if source.provider == "source.parquet":
        path = folder / "corpus.parquet"
        columns = ParquetSource(path=str(path), **config).config
        _write_table(
            path, _rows(below, columns.id_column, columns.title_column, columns.text_column)
        )
        return ProviderBlock(provider=source.provider, config={"path": str(path), **config})
    return ProviderBlock(provider="source.files", config={"root": str(below)})


def _rows(root: Path, id_name: str, title_name: str, text_name: str) -> list[dict[str, str]]:
    rows = []
    for item in FilesSource(root=root).read():
        if isinstance(item, Skipped):
            if item.reason == "empty":
                rows.append({id_name: item.id, title_name: "", text_name: ""})
            continue
        own = {id_name: item.id, title_name: item.title, text_name: item.text}
        more = {key: value for key, value in item.metadata.items() if key not in own}
        rows.append(own | more)
    return rows


def _write_table(path: Path, rows: list[dict[str, str]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [pa.array([row.get(name) for row in rows], pa.string()) for name in names]
    pq.write_table(pa.table(columns, names=names), path)
