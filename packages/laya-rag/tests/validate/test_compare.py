from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from laya_rag.validate.compare import byte_differences, row_differences
from laya_rag.validate.trial import Trial


def test_a_copy_does_not_differ(everything: Trial, copied: Path) -> None:
    assert list(byte_differences(everything.first, copied)) == []


def test_a_value_is_told_with_file_column_record_and_byte(
    everything: Trial, copied: Path, tamper: SimpleNamespace
) -> None:
    tamper.change_rows(copied, "chunks", tamper.set_value("title", 2, "another title"))
    first, *_ = row_differences(everything.first, copied)
    assert first.startswith("chunks/000-")
    assert "column 'title' of record_id '" in first
    assert "then 'another title'" in first
    assert "(the files differ from byte " in first


def test_a_component_of_a_vector_is_told(
    everything: Trial, copied: Path, tamper: SimpleNamespace
) -> None:
    edit = tamper.set_value("embedding", 2, lambda old: [*old[:5], 9.0, *old[6:]])
    tamper.change_rows(copied, "chunks", edit)
    first, *_ = row_differences(everything.first, copied)
    assert "column 'embedding' of record_id" in first
    assert ": [5] is " in first
    assert first.partition(" (")[0].endswith("then 9.0")


def test_rows_and_columns_and_files_that_are_missing_are_told(
    everything: Trial, copied: Path, tamper: SimpleNamespace
) -> None:
    tamper.change_rows(copied, "documents", lambda table: table.slice(0, 3))
    tamper.change_rows(copied, "chunks", lambda table: table.drop_columns(["title"]))
    tamper.change_manifest(copied, lambda data: data["files"].pop())
    found = " ".join(row_differences(everything.first, copied))
    assert "rows, then 3 (" in found
    assert "column pyarrow.Field<title" in found
    assert "only one of the bundles has this file" in found


def test_a_fact_of_the_manifest_is_told(
    everything: Trial, copied: Path, tamper: SimpleNamespace
) -> None:
    tamper.change_manifest(copied, lambda data: data["bm25"].update(k1=9.0))
    assert list(row_differences(everything.first, copied)) == [
        "manifest.json: bm25.k1 is 1.2, then 9.0"
    ]


def test_equal_rows_that_are_written_otherwise_differ_in_bytes(
    everything: Trial, copied: Path, tamper: SimpleNamespace
) -> None:
    tamper.change_rows(copied, "chunks", lambda table: table)  # same rows, one batch
    (path,) = copied.glob("chunks/*.parquet")
    same = path.read_bytes() == next(everything.first.glob("chunks/*.parquet")).read_bytes()
    found = list(byte_differences(everything.first, copied))
    assert same == (found == [])
    shutil.copy(everything.first / "manifest.json", copied)
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert any("differs from byte" in text for text in byte_differences(everything.first, copied))


@pytest.mark.parametrize("name", ["stray.txt", "chunks/stray"])
def test_a_stray_file_is_a_difference(name: str, everything: Trial, copied: Path) -> None:
    (copied / name).write_text("x")
    assert list(byte_differences(everything.first, copied)) == [f"{name} is in one bundle only"]
