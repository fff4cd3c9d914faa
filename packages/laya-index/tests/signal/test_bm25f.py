"""BM25F: from a stack to postings that a score can be computed from."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from laya_index.bundle.manifest import Bm25Entry, Bm25FieldEntry, FileEntry, read_manifest
from laya_index.bundle.reader import BundleReader
from laya_index.errors import StackError
from laya_index.process import RunReport
from laya_signals.bm25 import FieldFrequencies, field_saturation, saturation
from laya_signals.tokenize.word import WordTokenizer

Run = Callable[..., RunReport]
Write = Callable[[Path, dict[str, str | bytes]], Path]
BytesOf = Callable[[Path], dict[str, bytes]]

FIELDS = "signals.bm25.bm25f={title: {weight: 3, b: 0.5}, headings: {weight: 2, b: 0}, content: {}}"
FILES: dict[str, str | bytes] = {
    "tides.md": "# Tides\n\nThe mill works twice a day.\n\n## Moon and sun\n\nThe moon pulls.\n",
    "mill.md": "# Mill\n\nTides drive the wheel. Tides stop it. The wheel grinds corn and corn.\n",
    "moon.txt": "tides tides tides of the moon and the wheel",
    "dots.txt": "...",
}


@pytest.fixture
def root(tmp_path: Path, write: Write) -> Path:
    return write(tmp_path / "in", FILES)


def opened(folder: Path) -> tuple[Bm25Entry, list[dict[str, Any]], list[dict[str, Any]]]:
    with BundleReader.open(folder) as reader:
        assert reader.manifest.bm25 is not None
        rows = reader.read("chunks").to_pylist()
        return reader.manifest.bm25, rows, reader.read("bm25-postings").to_pylist()


def weights_of(entry: Bm25Entry, postings: list[dict[str, Any]], chunks: int) -> Any:
    """What a reader computes: every posting's weight, by term and chunk."""
    fields = entry.fields
    assert fields is not None
    ordinals = np.concatenate([row["ordinals"] for row in postings])
    scored = []
    for name, field in fields.items():
        counts = np.concatenate([row[f"{name}_frequencies"] for row in postings])
        lengths = np.bincount(ordinals, weights=counts, minlength=chunks)
        assert lengths.mean() == pytest.approx(field.avg_len)
        scored.append(
            FieldFrequencies(counts, lengths[ordinals], field.avg_len, field.weight, field.b)
        )
    flat = iter(field_saturation(scored, k1=entry.k1).tolist())
    return {(row["term"], chunk): next(flat) for row in postings for chunk in row["ordinals"]}


def test_a_bundle_holds_all_that_scoring_by_fields_needs(
    root: Path, tmp_path: Path, run: Run
) -> None:
    run(root, tmp_path / "out", FIELDS, "signals.bm25.b=0.6")
    entry, rows, postings = opened(tmp_path / "out")
    assert entry.fields is not None
    assert {name: (f.weight, f.b) for name, f in entry.fields.items()} == {
        "title": (3.0, 0.5),
        "headings": (2.0, 0.0),
        "content": (1.0, 0.6),
    }
    tokenize = WordTokenizer().tokenize
    texts = [
        {
            "title": tokenize(row["title"]),
            "headings": [term for heading in row["heading_path"] for term in tokenize(heading)],
            "content": tokenize(row["content"]),
        }
        for row in rows
    ]
    average = {name: sum(len(t[name]) for t in texts) / len(texts) for name in entry.fields}
    expected = {}
    for chunk, text in enumerate(texts):
        for term in {term for words in text.values() for term in words}:
            total = 0.0
            for name, field in entry.fields.items():
                norm = 1 - field.b + field.b * len(text[name]) / average[name]
                total += field.weight * text[name].count(term) / norm if norm else 0.0
            expected[term, chunk] = total * (entry.k1 + 1) / (total + entry.k1)
    assert weights_of(entry, postings, len(rows)) == pytest.approx(expected)
    found = {(row["term"], n) for row in postings for n in row["ordinals"]}
    assert ("tides", 0) in found or ("tides", 1) in found


def test_one_field_of_weight_one_scores_as_bm25_does(root: Path, tmp_path: Path, run: Run) -> None:
    run(root, tmp_path / "plain", "signals.bm25.title_weight=0")
    run(root, tmp_path / "apart", "signals.bm25.bm25f={content: {}}")
    plain, rows, postings = opened(tmp_path / "plain")
    entry, _, apart = opened(tmp_path / "apart")
    ordinals = np.concatenate([row["ordinals"] for row in postings])
    counts = np.concatenate([row["frequencies"] for row in postings])
    lengths = np.bincount(ordinals, weights=counts, minlength=len(rows))
    flat = saturation(counts, lengths[ordinals], plain.avg_doc_len, k1=plain.k1, b=plain.b)
    found = weights_of(entry, apart, len(rows))
    assert list(found.values()) == flat.tolist()
    terms = [
        pq.read_table(folder / read_manifest(folder).of_kind("bm25-terms")[0].path)
        for folder in (tmp_path / "plain", tmp_path / "apart")
    ]
    assert terms[0].equals(terms[1])
    assert entry.avg_doc_len == plain.avg_doc_len


def test_weights_are_for_scoring_and_change_no_posting(
    root: Path, tmp_path: Path, run: Run
) -> None:
    def built(*sets: str) -> tuple[list[FileEntry], dict[str, Bm25FieldEntry]]:
        assert run(root, tmp_path / "out", FIELDS, *sets).state == "built"
        manifest = read_manifest(tmp_path / "out")
        assert manifest.bm25 is not None
        assert manifest.bm25.fields is not None
        return manifest.files, manifest.bm25.fields

    files, before = built()
    kept, after = built("signals.bm25.bm25f.title.weight=9")
    assert kept == files
    assert after == before | {"title": before["title"].model_copy(update={"weight": 9.0})}


def test_workers_edits_and_switching_it_off_leave_the_same_bytes(
    root: Path, tmp_path: Path, write: Write, run: Run, bytes_of: BytesOf
) -> None:
    run(root, tmp_path / "plain")
    text = (tmp_path / "plain" / "manifest.json").read_text()
    assert '"fields"' not in text
    assert "bm25f" not in text
    run(root, tmp_path / "out", FIELDS, workers=2)
    run(root, tmp_path / "fresh", FIELDS)
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "fresh")
    write(root, {"new.md": "# Corn\n\nMore corn.\n"})
    run(root, tmp_path / "out", FIELDS)
    (root / "new.md").unlink()
    run(root, tmp_path / "out", FIELDS)
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "fresh")
    run(root, tmp_path / "out")
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "plain")


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("signals.bm25.bm25f={}", "name at least one field"),
        ("signals.bm25.bm25f={titel: {}}", "unknown key 'titel'; did you mean 'title'"),
        ("signals.bm25.bm25f={title: {weight: 0}}", r"bm25f\.title\.weight"),
        ("signals.bm25.bm25f={title: {b: 2}}", r"bm25f\.title\.b"),
        ("signals.bm25={provider: tokenizer.word, title_weight: 3, bm25f: {title: {}}}", "drop"),
    ],
)
def test_wrong_settings_are_refused(
    item: str, message: str, root: Path, tmp_path: Path, run: Run
) -> None:
    with pytest.raises(StackError, match=message):
        run(root, tmp_path / "out", item)
