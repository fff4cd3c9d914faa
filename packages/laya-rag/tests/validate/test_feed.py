from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from laya_index.document import Skipped, SourceDocument
from laya_index.registry import registry
from laya_index.sample import sample_files
from laya_index.source.base import Source
from laya_rag.validate.feed import feed
from laya_signals import ProviderBlock


def read(block: ProviderBlock) -> dict[str, SourceDocument | Skipped]:
    return {item.id: item for item in registry.resolve(block, Source).read()}


@pytest.mark.parametrize(
    ("provider", "config"),
    [
        ("source.jsonl", {"path": "x.jsonl"}),
        ("source.jsonl", {"path": "x.jsonl.gz", "id_field": "key", "text_field": "body"}),
        ("source.parquet", {"path": "s3://bucket/x", "region": "eu", "title_column": "name"}),
    ],
)
def test_a_table_holds_the_documents_of_the_files(
    provider: str, config: dict[str, Any], tmp_path: Path
) -> None:
    block = ProviderBlock(provider=provider, config=config)
    found = read(feed(block, sample_files(), tmp_path / "table"))
    files = read(feed(ProviderBlock(provider="source.files"), sample_files(), tmp_path / "files"))
    texts = {name: item for name, item in files.items() if isinstance(item, SourceDocument)}
    assert {n: (d.title, d.text) for n, d in found.items() if isinstance(d, SourceDocument)} == {
        name: (item.title, item.text) for name, item in texts.items()
    }
    assert found["notes/empty.txt"].reason == "empty"
    assert found["harbour/pilots.md"].metadata["author"].startswith("Ilse Brandt")


def test_a_source_of_ones_own_is_replaced_by_files(tmp_path: Path) -> None:
    block = feed(ProviderBlock(provider="my.module:Source"), sample_files(), tmp_path / "own")
    assert block.provider == "source.files"
    assert "harbour/ferry.md" in read(block)


def test_feeding_again_replaces_what_was_there(tmp_path: Path) -> None:
    block = ProviderBlock(provider="source.files")
    feed(block, sample_files(), tmp_path / "again")
    assert set(read(feed(block, {"only.txt": b"text"}, tmp_path / "again"))) == {"only.txt"}
