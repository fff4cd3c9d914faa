import json
import random
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from laya_index import shard as sharding
from laya_index.bundle import writer as bundle_writer
from laya_index.bundle.cache import cache_folder
from laya_index.bundle.lock import writer_lock
from laya_index.bundle.manifest import read_manifest
from laya_index.bundle.reader import BundleReader
from laya_index.errors import (
    BundleError,
    LockedError,
    SignalStageError,
    SourceError,
    StackError,
)
from laya_index.process import RunReport
from laya_signals.passage import titled

Run = Callable[..., RunReport]
Write = Callable[[Path, dict[str, str | bytes]], Path]
BytesOf = Callable[[Path], dict[str, bytes]]

CORPUS: dict[str, str | bytes] = {
    "a.md": "---\ntitle: First\n---\n# One\n\nThe quick brown fox jumps over the lazy dog.\n",
    "b/c.txt": "Plain text about databases.\n\nWith a second paragraph about indexes.\n",
    "d.bin": b"\x00\x01\x02",
}
CHANGES = 12
OVERRIDES = {
    "trust": "trust.rules=[{match: 'x/**', tier: trusted}]",
    "tenants": "trust.tenants={a: ['x/**']}",
    "chunk": "chunk.chars=120",
    "redact": "redact.kinds=[]",
    "title": "signals.bm25.title_weight=3",
    "encoder": "signals.embedding.seed=1",
    "weights": "signals.bm25.k1=0.9",
    "lexical": "signals.bm25=null",
}


@pytest.fixture
def root(tmp_path: Path, write: Write) -> Path:
    return write(tmp_path / "corpus", CORPUS)


@pytest.fixture(autouse=True)
def _no_flush_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    # Waiting for the disk is most of the time here; `test_crash.py` keeps it.
    monkeypatch.setattr(bundle_writer, "_sync", lambda path: None)


# What a run builds


def test_a_bundle_holds_every_document_chunk_and_signal(
    root: Path, tmp_path: Path, run: Run
) -> None:
    report = run(root, tmp_path / "out")
    assert (report.state, report.documents, report.skipped) == ("built", 2, {"binary": 1})
    with BundleReader.open(tmp_path / "out") as reader:
        documents, chunks = reader.read("documents"), reader.read("chunks")
        assert documents["document_id"].to_pylist() == ["a.md", "b/c.txt"]
        assert documents["title"].to_pylist() == ["First", "c.txt"]
        assert reader.read("skipped")["document_id"].to_pylist() == ["d.bin"]
        assert reader.manifest.counts.chunks == chunks.num_rows == report.chunks
        assert chunks["embedding"].type.list_size == 4
        rows = np.stack(chunks["embedding"].to_pylist())
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
        (term,) = (t for t in reader.read("bm25-terms").to_pylist() if t["term"] == "databases")
        assert (term["df"], term["cf"]) == (1, 1)
    assert report.bytes == sum(entry.bytes for entry in read_manifest(tmp_path / "out").files)


def test_offsets_point_into_the_document_as_it_was_read(
    tmp_path: Path, write: Write, run: Run
) -> None:
    text = "---\r\ntitle: T\r\n---\r\n# Kopf\r\n\r\n" + "Größe zählt immer. 🎉 Wirklich. " * 20
    root = write(tmp_path / "in", {"a.md": text.encode("utf-16")})
    run(root, tmp_path / "out")
    decoded = text.replace("\r\n", "\n")
    with BundleReader.open(tmp_path / "out") as reader:
        chunks = reader.read("chunks").to_pylist()
    assert len(chunks) > 5
    for row in chunks:
        assert decoded[row["start"] : row["end"]] == row["content"]
        assert row["record_id"] == f"a.md#chunk-{row['ordinal']}"
        assert row["heading_path"] == ["Kopf"]


def test_postings_name_the_chunks_that_hold_a_term(
    tmp_path: Path, write: Write, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharding, "SHARD_DOCUMENTS", 2)
    root = write(tmp_path / "in", {f"{n}.txt": f"common word{n} word{n % 3}" for n in range(20)})
    run(root, tmp_path / "out", "signals.bm25.title_weight=0")
    with BundleReader.open(tmp_path / "out") as reader:
        assert len(reader.manifest.of_kind("chunks")) > 4
        contents = reader.read("chunks", ["content"])["content"].to_pylist()
        postings = reader.read("bm25-postings").to_pylist()
    assert len(postings) > 20
    for row in postings:
        holders = [n for n, text in enumerate(contents) if row["term"] in text.split()]
        assert row["ordinals"] == holders


def test_a_chunker_may_ask_how_long_the_documents_are(
    tmp_path: Path, write: Write, run: Run, bytes_of: BytesOf
) -> None:
    sentence = "This sentence has forty characters. OK. "
    root = write(tmp_path / "in", {f"{n}.txt": sentence * 36 for n in range(4)})
    sets = ["chunk.chars=auto", "chunk.overlap=20"]
    report = run(root, tmp_path / "auto", *sets)
    assert (report.documents, report.chunks) == (4, 4)
    assert run(root, tmp_path / "auto", *sets).state == "unchanged"
    # Longer documents move the size of every chunk, also where only some documents are new.
    write(root, {f"{n}.txt": sentence * 200 for n in range(4, 8)})
    run(root, tmp_path / "auto", *sets)
    run(root, tmp_path / "fresh", *sets)
    assert bytes_of(tmp_path / "auto") == bytes_of(tmp_path / "fresh")
    for n in range(8):
        (root / f"{n}.txt").unlink()
    assert run(root, tmp_path / "auto", *sets).chunks == 0


def test_a_signal_that_is_not_wired_adds_no_column_and_no_file(
    root: Path, tmp_path: Path, run: Run
) -> None:
    run(root, tmp_path / "out", "signals.bm25=null", "signals.embedding=null")
    with BundleReader.open(tmp_path / "out") as reader:
        assert {entry.kind for entry in reader.manifest.files} == {"documents", "chunks", "skipped"}
        assert "embedding" not in reader.read("chunks").column_names
        assert (reader.manifest.bm25, reader.manifest.embeddings) == (None, {})


@pytest.mark.parametrize("files", [{}, {"only.bin": b"\0\1"}])
def test_an_empty_corpus_gives_a_readable_bundle(
    tmp_path: Path, run: Run, write: Write, files: dict
) -> None:
    root = tmp_path / "in"
    root.mkdir()
    write(root, files)
    report = run(root, tmp_path / "out")
    assert (report.documents, report.chunks) == (0, 0)
    with BundleReader.open(tmp_path / "out") as reader:
        for kind in ("documents", "chunks", "bm25-terms", "bm25-postings"):
            assert reader.read(kind).num_rows == 0
        assert reader.manifest.bm25 is not None
        assert reader.manifest.bm25.avg_doc_len == 0.0


def test_no_artifact_knows_where_or_when_it_was_made(
    root: Path, tmp_path: Path, run: Run, bytes_of: BytesOf
) -> None:
    run(root, tmp_path / "one")
    shutil.copytree(root, tmp_path / "elsewhere" / "copy")
    run(tmp_path / "elsewhere" / "copy", tmp_path / "two")
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")
    assert str(tmp_path) not in (tmp_path / "one" / "manifest.json").read_text()


def test_what_no_rule_and_no_tenant_lets_in_is_denied_on_every_row(
    tmp_path: Path, write: Write, run: Run
) -> None:
    """The deny case: an allow-list and tenants, and a document that neither names."""
    text = "A passage of some length that is cut in two. " * 4
    files = {"docs/a.txt": text, "docs/acme/b.txt": text, "acme/c.txt": text, "inbox/d.txt": text}
    run(
        write(tmp_path / "in", files),
        tmp_path / "out",
        "trust.rules=[{match: 'docs/**', tier: trusted}]",
        "trust.tenants={acme: ['acme/**', 'docs/acme/**']}",
    )
    expected = {
        "docs/a.txt": ("trusted", []),
        "docs/acme/b.txt": ("trusted", ["acme"]),
        "acme/c.txt": ("quarantined", ["acme"]),
        "inbox/d.txt": ("quarantined", []),
    }
    with BundleReader.open(tmp_path / "out") as reader:
        assert reader.manifest.tenants == ["acme"]
        for kind in ("documents", "chunks"):
            rows = reader.read(kind, ["document_id", "trust_tier", "tenants"]).to_pylist()
            assert len(rows) >= (8 if kind == "chunks" else 4)
            for row in rows:
                assert (row["trust_tier"], row["tenants"]) == expected[row["document_id"]]


# Incremental equals fresh


class Editor:
    """Makes random edits to a corpus folder and to the stack's settings."""

    def __init__(self, root: Path, rng: random.Random) -> None:
        self.root, self.rng = root, rng
        self.sets: tuple[str, ...] = ()
        root.mkdir()

    def text(self) -> bytes:
        words = [
            "alpha",
            "beta",
            "gamma",
            "Größe",
            "東京都",
            "mail a@example.com",
            "# H\n\n",
            "\n\n",
        ]
        return " ".join(self.rng.choices(words, k=self.rng.randint(0, 60))).encode()

    def files(self) -> list[Path]:
        return sorted(path for path in self.root.rglob("*") if path.is_file())

    def new_path(self) -> Path:
        name = f"{self.rng.choice(['', 'x/', 'x/y/'])}{self.rng.randint(0, 99)}"
        path = self.root / (name + self.rng.choice([".md", ".txt", ".html"]))
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def edit(self) -> str:
        files = self.files()
        kinds = ["add"] * 6 + ["change", "rename", "delete", "copy", "binary"] * 2
        kind = self.rng.choice([*kinds, *self.rng.choices(list(OVERRIDES), k=2), "empty"])
        if kind in {"change", "rename", "delete", "copy"} and not files:
            kind = "add"
        if kind == "add":
            for _ in range(self.rng.randint(1, 5)):
                self.new_path().write_bytes(self.text())
        elif kind == "change":
            self.rng.choice(files).write_bytes(self.text())
        elif kind == "rename":
            self.rng.choice(files).rename(self.new_path())
        elif kind == "delete":
            self.rng.choice(files).unlink()
        elif kind == "copy":
            self.new_path().write_bytes(self.rng.choice(files).read_bytes())
        elif kind == "binary":
            self.new_path().write_bytes(b"\0" + self.rng.randbytes(9))
        elif kind == "empty":
            shutil.rmtree(self.root)
            self.root.mkdir()
        else:
            self.sets = () if self.sets else (OVERRIDES[kind],)
        return kind


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(n, marks=pytest.mark.slow) for n in range(3, 60))]
)
def test_any_history_of_edits_ends_in_the_bytes_of_a_fresh_build(
    seed: int, tmp_path: Path, run: Run, bytes_of: BytesOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(sharding, "SHARD_DOCUMENTS", 3)
    monkeypatch.setattr(sharding.Spool.__init__, "__defaults__", (rng.choice([2000, 1 << 26]),))
    editor = Editor(tmp_path / "in", rng)
    edits = []
    for step in range(CHANGES if seed > 2 else CHANGES // 2):
        edits += [editor.edit() for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.2:
            shutil.rmtree(cache_folder(tmp_path / "kept"), ignore_errors=True)
        before = {p.relative_to(editor.root).as_posix() for p in editor.files()}
        full = rng.random() < 0.15
        report = run(editor.root, tmp_path / "kept", *editor.sets, full=full)
        fresh = run(editor.root, tmp_path / f"fresh{step}", *editor.sets)
        assert bytes_of(tmp_path / "kept") == bytes_of(tmp_path / f"fresh{step}"), edits
        assert report.documents == fresh.documents == fresh.added
        assert report.added + report.changed + report.unchanged == report.documents
        assert report.documents + len(report.skips) == len(before)


@pytest.mark.slow
def test_the_number_of_workers_does_not_show(
    tmp_path: Path, write: Write, run: Run, bytes_of: BytesOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharding, "SHARD_DOCUMENTS", 40)
    texts = {f"{n}.txt": f"document {n} about topic {n % 7}. " * (n % 9 + 1) for n in range(200)}
    root = write(tmp_path / "in", texts)
    run(root, tmp_path / "one", workers=1)
    run(root, tmp_path / "two", workers=2)
    assert len(read_manifest(tmp_path / "one").of_kind("chunks")) == 8
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")
    write(root, {"5.txt": "changed", "new.txt": "new"})
    run(root, tmp_path / "one", workers=2)
    run(root, tmp_path / "two", workers=1)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")


# What a run reports, and what it leaves alone


def test_a_report_counts_against_the_bundle_that_was_there(
    tmp_path: Path, write: Write, run: Run
) -> None:
    root = write(tmp_path / "in", {"keep.txt": "k", "change.txt": "c", "go.txt": "g"})
    first = run(root, tmp_path / "out")
    assert (first.added, first.changed, first.unchanged, first.removed) == (3, 0, 0, 0)
    write(root, {"change.txt": "new", "come.txt": "x"})
    (root / "go.txt").rename(root / "went.txt")
    second = run(root, tmp_path / "out")
    assert (second.added, second.changed, second.unchanged, second.removed) == (2, 1, 1, 1)
    assert (second.documents, second.state) == (4, "built")


def test_an_unchanged_run_writes_nothing(root: Path, tmp_path: Path, run: Run) -> None:
    def times() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}

    run(root, tmp_path / "out")
    before = times()
    report = run(root, tmp_path / "out")
    assert report.state == "unchanged"
    assert (report.unchanged, report.documents, report.chunks) == (2, 2, 2)
    assert times() == before


def test_the_bundle_and_its_cache_are_never_documents(
    tmp_path: Path, write: Write, run: Run, bytes_of: BytesOf
) -> None:
    root = write(tmp_path / "in", {"a.txt": "text"})
    assert run(root, root / "out").documents == 1
    before = bytes_of(root / "out")
    assert run(root, root / "out").state == "unchanged"
    assert bytes_of(root / "out") == before


def test_a_dry_run_counts_and_writes_nothing(
    root: Path, tmp_path: Path, run: Run, write: Write, bytes_of: BytesOf
) -> None:
    report = run(root, tmp_path / "out", dry_run=True)
    assert (report.state, report.added, report.skipped) == ("dry run", 2, {"binary": 1})
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]
    run(root, tmp_path / "out")
    before = bytes_of(tmp_path)
    write(root, {"a.md": "changed"})
    (root / "b/c.txt").unlink()
    report = run(root, tmp_path / "out", dry_run=True)
    assert (report.changed, report.removed) == (1, 1)
    write(root, {name: CORPUS[name] for name in ("a.md", "b/c.txt")})
    assert bytes_of(tmp_path) == before


def test_progress_is_told_stage_by_stage(root: Path, tmp_path: Path, run: Run) -> None:
    told: list[tuple] = []

    class Told:
        def stage(self, name: str, total: int | None) -> None:
            told.append((name, total))

        def advance(self, documents: int, chunks: int) -> None:
            told.append((documents, chunks))

    report = run(root, tmp_path / "out", progress=Told())
    assert told == [
        *[("read", None), (1, 0), (1, 0)],
        *[("index", 2), (2, report.chunks), ("write", None)],
    ]
    assert report.seconds["total"] >= sum(report.seconds[name] for name in ("read", "write")) > 0


# What is cached


def test_only_what_changed_is_encoded_again(
    tmp_path: Path, write: Write, run: Run, encoded: list[str]
) -> None:
    root = write(tmp_path / "in", {f"{n}.txt": f"text {n}" for n in range(5)})
    run(root, tmp_path / "out")
    assert len(encoded) == 5
    encoded.clear()
    write(root, {"3.txt": "changed"})
    run(root, tmp_path / "out", "trust.default_tier=trusted")
    assert encoded == [titled("3.txt", "changed")]


def test_a_full_run_trusts_no_cache(
    tmp_path: Path, write: Write, run: Run, encoded: list[str], bytes_of: BytesOf
) -> None:
    root = write(tmp_path / "in", {"a.txt": "text"})
    run(root, tmp_path / "out")
    right = bytes_of(tmp_path / "out")
    (database,) = cache_folder(tmp_path / "out").glob("vectors-*.sqlite")
    with sqlite3.connect(database) as db:
        db.execute("UPDATE vectors SET vector = zeroblob(16)")
    encoded.clear()
    run(root, tmp_path / "out", full=True)
    assert len(encoded) == 1
    assert bytes_of(tmp_path / "out") == right


def test_the_cache_forgets_what_no_chunk_needs(
    tmp_path: Path, write: Write, run: Run, encoded: list[str]
) -> None:
    out = tmp_path / "out"
    root = write(tmp_path / "in", {f"{n}.txt": f"text {n}" for n in range(6)})
    run(root, out)
    for n in range(1, 6):
        (root / f"{n}.txt").unlink()
    run(root, out)
    (database,) = cache_folder(out).glob("vectors-*.sqlite")
    with sqlite3.connect(database) as db:
        assert db.execute("SELECT count(*) FROM vectors").fetchone() == (1,)
    encoded.clear()
    run(root, out, "trust.default_tier=trusted")
    assert encoded == []
    run(root, out, "signals.embedding.seed=1")
    assert len(list(cache_folder(out).glob("vectors-*.sqlite"))) == 1
    assert len(list(cache_folder(out).glob("postings/*"))) == 1


@pytest.mark.parametrize("pattern", ["vectors-*.sqlite", "postings/*.parquet"])
@pytest.mark.parametrize("damage", [b"", b"garbage" * 1000])
def test_a_damaged_cache_is_rebuilt(
    tmp_path: Path, write: Write, run: Run, bytes_of: BytesOf, pattern: str, damage: bytes
) -> None:
    root = write(tmp_path / "in", {"a.txt": "text", "b.txt": "other"})
    run(root, tmp_path / "out")
    (file,) = cache_folder(tmp_path / "out").glob(pattern)
    file.write_bytes(damage)
    write(root, {"b.txt": "changed"})
    run(root, tmp_path / "out")
    run(root, tmp_path / "fresh")
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "fresh")


@pytest.mark.parametrize("kind", ["documents", "chunks", "bm25-terms", "bm25-postings"])
@pytest.mark.parametrize("how", ["missing", "short"])
def test_a_damaged_bundle_is_mended(
    root: Path, tmp_path: Path, run: Run, bytes_of: BytesOf, kind: str, how: str
) -> None:
    run(root, tmp_path / "out")
    right = bytes_of(tmp_path / "out")
    file = tmp_path / "out" / read_manifest(tmp_path / "out").of_kind(kind)[0].path
    if how == "missing":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-9])
    run(root, tmp_path / "out")
    assert bytes_of(tmp_path / "out") == right


def test_a_file_with_flipped_bits_is_mended_once_they_are_noticed(
    root: Path, tmp_path: Path, run: Run, bytes_of: BytesOf
) -> None:
    run(root, tmp_path / "out")
    right = bytes_of(tmp_path / "out")
    manifest = read_manifest(tmp_path / "out")
    for kind in ("documents", "chunks"):
        file = tmp_path / "out" / manifest.of_kind(kind)[0].path
        data = bytearray(file.read_bytes())
        data[40] ^= 255
        file.write_bytes(data)
    run(root, tmp_path / "out")
    assert bytes_of(tmp_path / "out") == right


# What goes wrong


def test_a_second_writer_is_refused_and_told_who_writes(
    root: Path, tmp_path: Path, run: Run
) -> None:
    out = tmp_path / "out"
    with writer_lock(cache_folder(out), out), pytest.raises(LockedError, match="is being written"):
        run(root, out)
    run(root, out)


def test_a_text_that_cannot_be_encoded_is_named(tmp_path: Path, write: Write, run: Run) -> None:
    root = write(tmp_path / "in", {"a.txt": "fine", "b.txt": "unspeakable"})
    with pytest.raises(SignalStageError, match=r"b\.txt#chunk-0.*unspeakable"):
        run(root, tmp_path / "out", "signals.embedding.refuse=unspeakable")
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_a_failed_run_leaves_the_old_bundle(
    root: Path, tmp_path: Path, run: Run, write: Write, bytes_of: BytesOf
) -> None:
    run(root, tmp_path / "out")
    before = bytes_of(tmp_path / "out")
    write(root, {"e.txt": "unspeakable"})
    with pytest.raises(SignalStageError):
        run(root, tmp_path / "out", "signals.embedding.refuse=unspeakable")
    assert bytes_of(tmp_path / "out") == before


def test_an_id_that_occurs_twice_is_refused(tmp_path: Path, write: Write, run: Run) -> None:
    root = write(
        tmp_path / "in", {"c.jsonl": '{"_id": "x", "text": "a"}\n{"_id": "x", "text": "b"}'}
    )
    sets = ("source.provider=source.jsonl", f"source.config={{path: {root / 'c.jsonl'}}}")
    with pytest.raises(SourceError, match=r"c\.jsonl:2: id 'x' was already used on line 1"):
        run(root, tmp_path / "out", *sets)


def test_a_component_that_cannot_be_built_is_named_before_anything_is_written(
    root: Path, tmp_path: Path, run: Run
) -> None:
    with pytest.raises(StackError, match="unknown key 'colour'"):
        run(root, tmp_path / "out", "chunk.colour=red")
    assert not (tmp_path / "out").exists()


def test_a_bundle_of_another_format_is_only_replaced_on_request(
    root: Path, tmp_path: Path, run: Run
) -> None:
    run(root, tmp_path / "out")
    manifest = tmp_path / "out" / "manifest.json"
    data = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**data, "format_version": 99}))
    with pytest.raises(BundleError, match=r"format version 99.*--full"):
        run(root, tmp_path / "out")
    run(root, tmp_path / "out", full=True)
    assert json.loads(manifest.read_text()) == data


def test_an_output_path_that_is_a_file_is_refused(root: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(BundleError, match=r"cannot write to .*out"):
        run(root, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.parametrize("existing", [False, True])
def test_a_read_only_output_folder_is_refused(
    existing: bool, root: Path, tmp_path: Path, run: Run, as_nobody: Callable
) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    if existing:
        run(root, folder / "out")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    (root / "a.md").write_text("changed")
    said = as_nobody(lambda: run(root, folder / "out"))
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    assert said.startswith("BundleError: cannot write to")
    assert "Permission denied" in said


def test_files_of_others_in_the_bundle_folder_stay(
    root: Path, tmp_path: Path, run: Run, write: Write
) -> None:
    theirs = {"data.parquet": "x", "chunks/mine.parquet": "y", "README.md": "z"}
    write(tmp_path / "out", dict(theirs))
    run(root, tmp_path / "out")
    for name, content in theirs.items():
        assert (tmp_path / "out" / name).read_text() == content


# Personal data


def test_planted_personal_data_reaches_no_byte_of_any_artifact(
    tmp_path: Path, write: Write, run: Run
) -> None:
    planted = ["jane.roe@example.com", "+49 30 901820", "DE89370400440532013000"]
    planted += ["4532015112830366", "203.0.113.77", "ghp_" + "a1B2" * 9]
    body = " and ".join(planted)
    markdown = f"---\ntitle: Mail {planted[0]}\ncontact: {planted[1]}\n{planted[4]}: x\n---\n"
    markdown += f"# Ask {planted[0]}\n\n{body}\n\n## Or {planted[2]}\n\n{body}\n"
    root = write(tmp_path / "in", {"a.md": markdown, "b.txt": body, "c.md": f"# {planted[0]}\n"})
    report = run(root, tmp_path / "out", "signals.bm25.title_weight=2")
    assert set(report.redactions) == {"EMAIL", "PHONE", "IBAN", "CARD", "IP", "SECRET"}
    artifacts = [
        path
        for folder in (tmp_path / "out", cache_folder(tmp_path / "out"))
        for path in folder.rglob("*")
        if path.is_file()
    ]
    assert {path.suffix for path in artifacts} >= {".parquet", ".json", ".sqlite"}
    fragments = [*planted, "jane", "roe", "901820", "3704", "453201", "203.0.113", "a1b2a1"]
    for path in artifacts:
        text = path.read_bytes().decode("latin-1")
        if path.suffix == ".parquet":
            text += str(pq.read_table(path).to_pylist())
        text = re.sub(r"[0-9a-f]{16,64}", "<hash>", text.lower())
        assert [fragment for fragment in fragments if fragment.lower() in text] == [], path
