import json
from pathlib import Path

import pytest
from laya_index.bundle.manifest import (
    FORMAT_VERSION,
    Bm25Entry,
    Counts,
    EmbeddingEntry,
    FileEntry,
    Manifest,
    SignalEntry,
    StackEntry,
    read_manifest,
)
from laya_index.errors import ManifestError
from pydantic import ValidationError


def manifest(**changes: object) -> Manifest:
    data = {
        "stack": StackEntry(name="test", hash="0" * 16),
        "counts": Counts(documents=1, chunks=2, terms=3, skipped={"leer · 空": 1}, redactions={}),
        "components": {"chunk": "a"},
        "tenants": None,
        "bm25": Bm25Entry(
            doc_count=2,
            avg_doc_len=1 / 3,
            k1=1.2,
            b=0.75,
            title_weight=1,
            tokenizer={"provider": "x", "config": {}},
            tokenizer_fingerprint="f",
        ),
        "embeddings": {},
        "files": [
            FileEntry(path=f"chunks/{n}.parquet", kind="chunks", rows=n, bytes=9, sha256="s")
            for n in (2, 1)
        ],
    }
    return Manifest.model_validate({**data, **changes})


def test_a_manifest_survives_the_file(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(manifest().to_json(), encoding="utf-8")
    assert read_manifest(tmp_path) == manifest()
    assert "leer · 空" in manifest().to_json()


def test_files_are_listed_by_kind_in_the_order_of_their_rows() -> None:
    assert [entry.rows for entry in manifest().of_kind("chunks")] == [2, 1]
    assert manifest().of_kind("documents") == []


def test_a_folder_without_one_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"holds no bundle .*laya process"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "cannot read"),
        ("{", "cannot read"),
        (b"\xff", "cannot read"),
        ("[]", "format version None"),
        ("{}", "format version None"),
        (json.dumps({"format_version": 99}), "format version 99, this release reads 1"),
        (json.dumps({"format_version": FORMAT_VERSION}), "damaged: stack: Field required"),
        (
            json.dumps({**json.loads(manifest().to_json()), "more": 1}),
            "damaged: unknown key 'more'",
        ),
        (json.dumps({**json.loads(manifest().to_json()), "files": 1}), "damaged: files"),
    ],
)
def test_one_that_cannot_be_read_is_named(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(
        ManifestError, match=rf"manifest\.json' .*{message}|{message} .*manifest\.json"
    ):
        read_manifest(tmp_path)


def test_a_manifest_does_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        manifest().tenants = []  # type: ignore[misc]


def test_what_was_added_to_the_format_shows_only_where_it_is_used(tmp_path: Path) -> None:
    plain = EmbeddingEntry(provider="p", config={}, fingerprint="f", dimension=4)
    keys = set(json.loads(manifest(embeddings={"embedding": plain}).to_json()))
    assert "signals" not in keys
    assert set(plain.model_dump()) == {"provider", "config", "fingerprint", "dimension"}
    full = manifest(
        embeddings={"embedding": plain.model_copy(update={"dtype": "float16"})},
        signals={"s": SignalEntry(provider="p", config={}, fingerprint="f", kind="k", dimension=2)},
    )
    (tmp_path / "manifest.json").write_text(full.to_json(), encoding="utf-8")
    assert read_manifest(tmp_path) == full
    assert '"dtype": "float16"' in full.to_json()
