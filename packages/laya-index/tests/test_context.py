import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from laya_index.bundle.cache import cache_folder
from laya_index.bundle.reader import BundleReader
from laya_index.context import Breadcrumb, Context, LedChunk
from laya_index.document import Chunk, OffsetMap, RedactedDocument
from laya_index.process import RunReport
from laya_signals.passage import titled

Run = Callable[..., RunReport]
Write = Callable[[Path, dict[str, str | bytes]], Path]
BytesOf = Callable[[Path], dict[str, bytes]]

CONTEXT = "context.provider=laya_index.context:Breadcrumb"
TEXT = "# Manual\n\n## Engine\n\nTurn it off first.\n"


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({}, "a/b.md > One > Two"),
        ({"file": False}, "One > Two"),
        ({"headings": False}, "a/b.md"),
        ({"file": False, "headings": False}, ""),
        ({"separator": " / "}, "a/b.md / One / Two"),
    ],
)
def test_a_breadcrumb_is_the_way_to_a_passage(settings: dict, line: str) -> None:
    crumb = Breadcrumb(settings)
    assert isinstance(crumb, Context)
    assert crumb.lead("a/b.md", ["One", "Two"]) == line
    assert (crumb.fingerprint == Breadcrumb().fingerprint) == (not settings)


def test_a_lead_comes_before_title_and_passage_and_changes_neither() -> None:
    document = RedactedDocument("d", "text", "Title", "text/plain", "", {}, "", OffsetMap(), {})
    chunk = Chunk(document, 1, 0, 4, "text", ("H",))
    led = LedChunk.of(chunk, "d > H")
    assert led.encoder_text == "d > H\nTitle\ntext"
    assert (led.content, led.record_id, led.heading_path) == ("text", chunk.record_id, ("H",))
    assert LedChunk.of(chunk, "").encoder_text == chunk.encoder_text


def test_it_is_indexed_but_no_part_of_the_content(
    tmp_path: Path, write: Write, run: Run, encoded: list[str]
) -> None:
    root = write(tmp_path / "in", {"handbook/pump.md": TEXT})
    rows, terms = [], []
    for sets in ([], [CONTEXT]):
        run(root, tmp_path / f"out{len(sets)}", "signals.bm25.title_weight=0", *sets)
        with BundleReader.open(tmp_path / f"out{len(sets)}") as reader:
            rows.append(reader.read("chunks").drop_columns(["embedding"]).to_pylist())
            terms.append(set(reader.read("bm25-terms")["term"].to_pylist()))
            assert ("context" in reader.manifest.components) == bool(sets)
    assert rows[0] == rows[1]
    assert terms[1] - terms[0] == {"handbook", "pump", "md"}
    crumbs = Breadcrumb().lead("handbook/pump.md", rows[0][0]["heading_path"])
    assert encoded[-1] == f"{crumbs}\n{titled(rows[0][0]['title'], rows[0][0]['content'])}"


def test_without_it_the_bundle_is_the_same_bytes(
    tmp_path: Path, write: Write, run: Run, bytes_of: BytesOf
) -> None:
    root = write(tmp_path / "in", {"a.md": TEXT, "b.md": TEXT * 4})
    run(root, tmp_path / "fresh")
    run(root, tmp_path / "out", CONTEXT)
    assert bytes_of(tmp_path / "out") != bytes_of(tmp_path / "fresh")
    run(root, tmp_path / "out")
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "fresh")


def test_personal_data_in_a_file_name_reaches_no_signal(
    tmp_path: Path, write: Write, run: Run, encoded: list[str]
) -> None:
    root = write(tmp_path / "in", {"jane.roe@example.com.txt": "A letter."})
    run(root, tmp_path / "out", CONTEXT, "signals.bm25.title_weight=0")
    with BundleReader.open(tmp_path / "out") as reader:
        assert not {"jane", "roe"} & set(reader.read("bm25-terms")["term"].to_pylist())
    assert "jane" not in encoded[-1].partition("\n")[0]


def test_the_cache_keeps_what_was_encoded_with_a_lead(
    tmp_path: Path, write: Write, run: Run, encoded: list[str]
) -> None:
    root = write(tmp_path / "in", {f"{n}.txt": f"text {n}" for n in range(6)})
    run(root, tmp_path / "out", CONTEXT)
    for n in range(1, 6):
        (root / f"{n}.txt").unlink()
    run(root, tmp_path / "out", CONTEXT)
    (database,) = cache_folder(tmp_path / "out").glob("vectors-*.sqlite")
    with sqlite3.connect(database) as db:
        assert db.execute("SELECT count(*) FROM vectors").fetchone() == (1,)
    encoded.clear()
    run(root, tmp_path / "out", CONTEXT, "trust.default_tier=trusted")
    assert encoded == []
