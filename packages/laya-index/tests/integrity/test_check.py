from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from laya_index.bundle.manifest import Manifest, read_manifest
from laya_index.delete import delete
from laya_index.errors import ManifestError, SourceError
from laya_index.integrity import Drift, FileProblem, IntegrityReport, check
from laya_index.integrity.files import check_files
from laya_index.integrity.minhash import jaccard, shingles
from laya_index.process import RunReport, process
from laya_index.stack import Stack

Write = Callable[..., Path]
Run = Callable[..., RunReport]
BytesOf = Callable[[Path], dict[str, bytes]]

FILES: dict[str, str | bytes] = {
    "a.md": "# One\n\nThe tide mill stands at the old harbour. " * 6,
    "b.md": "# Two\n\nThe ferry crosses to the island four times a day. " * 6,
    "sub/c.txt": "Plain text about databases and indexes. " * 8,
    "d.bin": b"\x00\x01\x02",
    "e.txt": "",
}


@pytest.fixture
def root(tmp_path: Path, write: Write) -> Path:
    return write(tmp_path / "in", FILES)


@pytest.fixture
def stack(root: Path, tmp_path: Path, stack_of: Callable[..., Stack]) -> Stack:
    made = stack_of(root, tmp_path / "out")
    process(made, workers=1)
    return made


def bundle_of(stack: Stack) -> Path:
    return stack.model.export.path


def looked_at(stack: Stack, **options: object) -> IntegrityReport:
    return check(bundle_of(stack), stack, **options)


def drift_of(stack: Stack) -> Drift:
    drift = looked_at(stack).drift
    assert drift is not None
    return drift


def problems(bundle: Path) -> list[tuple[str, str]]:
    return [(item.path, item.problem) for item in check(bundle).files]


# Whole and current


def test_a_bundle_just_built_is_sound_and_stays_untouched(
    stack: Stack, tmp_path: Path, bytes_of: BytesOf
) -> None:
    before = bytes_of(tmp_path)
    report = looked_at(stack)
    assert report.sound
    assert not report.remarkable
    assert (report.stack, report.documents, report.unchecked) == ("test", 3, {})
    assert report.drift == Drift(False, {}, (), (), (), settled_skips=2, excluded=0)
    assert report.near is not None
    assert report.bytes == sum(entry.bytes for entry in read_manifest(bundle_of(stack)).files)
    assert bytes_of(tmp_path) == before


def test_without_the_stack_the_source_is_not_looked_at(stack: Stack) -> None:
    report = check(bundle_of(stack))
    assert (report.drift, report.sound) == (None, True)
    assert report.unchecked == {"source": "needs the stack file, which says where the source is"}
    assert report.duplicates == ()
    assert report.identities == ()


# Files


def corrupted(data: bytes) -> bytes:
    return data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]


@pytest.mark.parametrize("kind", ["documents", "chunks", "bm25-terms", "bm25-postings", "skipped"])
@pytest.mark.parametrize(
    ("change", "problem"),
    [(None, "missing"), (lambda data: data + b"x", "size"), (lambda data: data[:-1], "size"),
     (corrupted, "hash"), (lambda data: bytes([data[0] ^ 1]) + data[1:], "hash")],
)  # fmt: skip
def test_a_damaged_file_is_named(
    stack: Stack, kind: str, change: Callable[[bytes], bytes] | None, problem: str
) -> None:
    (entry, *_) = read_manifest(bundle_of(stack)).of_kind(kind)
    path = bundle_of(stack) / entry.path
    if change is None:
        path.unlink()
    else:
        path.write_bytes(change(path.read_bytes()))
    report = looked_at(stack)
    assert [(item.path, item.problem) for item in report.files] == [(entry.path, problem)]
    assert not report.sound
    assert set(report.unchecked) == {"source", "duplicates", "near duplicates", "ids"}


def with_manifest(bundle: Path, old: str, new: str) -> None:
    path = bundle / "manifest.json"
    text = path.read_text()
    assert text.count(old) >= 1, old
    path.write_text(text.replace(old, new, 1))


def test_counts_that_disagree_with_the_files_are_told(stack: Stack) -> None:
    bundle = bundle_of(stack)
    with_manifest(bundle, '"documents": 3', '"documents": 4')
    assert problems(bundle) == [("manifest.json", "totals")]


def test_rows_that_disagree_with_the_manifest_are_told(stack: Stack) -> None:
    bundle = bundle_of(stack)
    (entry,) = read_manifest(bundle).of_kind("documents")
    with_manifest(bundle, '"rows": 3', '"rows": 2')
    assert problems(bundle) == [(entry.path, "rows"), ("manifest.json", "totals")]
    assert "3 rows; the manifest says 2" in check(bundle).files[0].detail


def test_a_file_with_the_right_hash_that_is_no_parquet_is_told(stack: Stack) -> None:
    bundle = bundle_of(stack)
    (entry,) = read_manifest(bundle).of_kind("skipped")
    data = b"not parquet" + b"x" * (entry.bytes - 11)
    (bundle / entry.path).write_bytes(data)
    with_manifest(bundle, entry.sha256, hashlib.sha256(data).hexdigest())
    assert problems(bundle) == [(entry.path, "unreadable")]


@pytest.mark.parametrize(
    "name", ["notes.txt", ".tmp-chunks", "chunks/000-0123456789abcdef.parquet"]
)
def test_a_stray_file_is_told_and_hides_nothing_else(stack: Stack, name: str) -> None:
    (bundle_of(stack) / name).write_text("x")
    report = looked_at(stack)
    assert [(item.path, item.problem) for item in report.files] == [(name, "stray")]
    assert not report.sound
    assert report.unchecked == {}


@pytest.mark.parametrize("text", [None, "{", '{"format_version": 99}'])
def test_without_a_manifest_there_is_nothing_to_check(stack: Stack, text: str | None) -> None:
    path = bundle_of(stack) / "manifest.json"
    path.unlink()
    if text is not None:
        path.write_text(text)
    with pytest.raises(ManifestError):
        looked_at(stack)


def test_a_bundle_replaced_meanwhile_is_read_again(
    stack: Stack, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def replaced(bundle: Path, manifest: Manifest) -> list[FileProblem]:
        calls.append(1)
        if len(calls) == 1:
            (root / "a.md").write_text("Something else entirely. " * 20)
            process(stack, workers=1)
        return check_files(bundle, manifest)

    monkeypatch.setattr("laya_index.integrity.checker.check_files", replaced)
    assert looked_at(stack).sound
    assert len(calls) == 2


# The source


def test_what_is_gone_changed_and_new_is_told(stack: Stack, root: Path) -> None:
    (root / "a.md").unlink()
    (root / "b.md").write_text("Other words.")
    (root / "new.txt").write_text("New words.")
    drift = drift_of(stack)
    assert (drift.deleted, drift.changed, drift.added) == ({"a.md": ""}, ("b.md",), ("new.txt",))
    assert drift.stale
    assert not looked_at(stack).sound
    process(stack, workers=1)
    assert not drift_of(stack).stale


def test_a_document_that_is_skipped_now_is_gone_with_the_reason(stack: Stack, root: Path) -> None:
    (root / "a.md").write_bytes(b"\0\1\2")
    (root / ".gitignore").write_text("b.md\n")
    assert drift_of(stack).deleted == {"a.md": "binary", "b.md": "ignored by .gitignore"}


def test_a_skip_on_purpose_is_not_stale_for_ever(stack: Stack, root: Path) -> None:
    """AutoRAG#1610: files that a run skips must not be reported after every run."""
    for _ in range(2):
        drift = drift_of(stack)
        assert (drift.stale, drift.settled_skips) == (False, 2)
        process(stack, workers=1)
    (root / "d.bin").write_bytes(b"\0another version")
    (root / "more.bin").write_bytes(b"\0")
    (root / "e.txt").unlink()
    drift = drift_of(stack)
    assert drift.outdated_skips == ("d.bin", "e.txt", "more.bin")
    assert (drift.stale, drift.settled_skips, drift.added) == (True, 0, ())
    process(stack, workers=1)
    drift = drift_of(stack)
    assert (drift.stale, drift.settled_skips) == (False, 2)


def test_a_skipped_file_that_can_be_read_now_is_new(stack: Stack, root: Path) -> None:
    (root / "e.txt").write_text("Words at last.")
    drift = drift_of(stack)
    assert (drift.added, drift.outdated_skips, drift.settled_skips) == (("e.txt",), (), 1)


def test_documents_deleted_from_the_bundle_are_not_new(stack: Stack) -> None:
    delete(bundle_of(stack), ["a.md"])
    drift = drift_of(stack)
    assert (drift.stale, drift.excluded) == (False, 1)


def test_other_settings_are_told(stack: Stack, root: Path, stack_of: Callable[..., Stack]) -> None:
    other = stack_of(root, bundle_of(stack), "chunk.chars=70")
    drift = check(bundle_of(stack), other).drift
    assert drift is not None
    assert (drift.settings_changed, drift.stale, drift.changed) == (True, True, ())


def test_a_source_that_cannot_be_read_is_an_error(stack: Stack, root: Path) -> None:
    shutil.rmtree(root)
    with pytest.raises(SourceError):
        looked_at(stack)


def test_a_bundle_inside_its_source_is_not_read_as_one(
    root: Path, stack_of: Callable[..., Stack]
) -> None:
    made = stack_of(root, root / "bundle")
    process(made, workers=1)
    assert looked_at(made).sound


# Twice the same


def test_documents_with_the_same_words_are_a_group(
    tmp_path: Path, write: Write, stack_of: Callable[..., Stack]
) -> None:
    text = "The tide mill stands at the old harbour, and it has stood there for long. " * 5
    wider = text.replace(". ", ".\n\n").replace(" at ", "   at\n")
    files = {"a.txt": text, "b.txt": wider, "c.txt": text.upper(), "d.txt": "x" * 40, "e.txt": "y"}
    made = stack_of(write(tmp_path / "in", files), tmp_path / "out")
    process(made, workers=1)
    report = looked_at(made)
    assert report.duplicates == (("a.txt", "b.txt"),)
    assert report.near is not None
    # Letter case makes no near duplicate of the third; the second is told of already.
    assert [(pair.first, pair.second, pair.similarity) for pair in report.near.pairs] == [
        ("a.txt", "c.txt", 1.0)
    ]
    assert report.sound
    assert report.remarkable


def corpus(rng: random.Random) -> dict[str, str]:
    words = [f"word{number}" for number in range(400)]
    files = {}
    for base in range(12):
        text = rng.choices(words, k=120)
        for copy in range(4):
            changed = list(text)
            for place in rng.sample(range(120), k=copy * rng.randint(0, 4)):
                changed[place] = rng.choice(words)
            files[f"{base:02}-{copy}.txt"] = " ".join(changed)
    return files


@pytest.mark.parametrize("threshold", [0.6, 0.8, 0.95])
def test_near_duplicates_are_those_of_brute_force(
    tmp_path: Path, write: Write, stack_of: Callable[..., Stack], threshold: float
) -> None:
    files = corpus(random.Random(3))
    made = stack_of(write(tmp_path / "in", files), tmp_path / "out", "signals.embedding=null")
    process(made, workers=1)
    report = looked_at(made, threshold=threshold)
    assert report.near is not None
    assert report.duplicates is not None
    hidden = {name for group in report.duplicates for name in group[1:]}
    names = sorted(files.keys() - hidden)
    sets = {name: shingles(files[name]) for name in names}
    expected = {
        (a, b): jaccard(sets[a], sets[b])
        for place, a in enumerate(names)
        for b in names[place + 1 :]
        if jaccard(sets[a], sets[b]) >= threshold
    }
    found = {(pair.first, pair.second): pair.similarity for pair in report.near.pairs}
    assert len(expected) > 5
    assert found == expected
    assert not report.near.truncated
    values = [pair.similarity for pair in report.near.pairs]
    assert values == sorted(values, reverse=True)


def test_a_scan_that_stops_at_its_limit_says_so(
    tmp_path: Path, write: Write, stack_of: Callable[..., Stack]
) -> None:
    text = "The tide mill stands at the old harbour, and it has stood there for long. " * 9
    files = {f"{number}.txt": f"{text}{number}" for number in range(8)}
    made = stack_of(write(tmp_path / "in", files), tmp_path / "out", "signals.embedding=null")
    process(made, workers=1)
    for limit, compared, truncated in ((5, 5, True), (28, 28, False), (100, 28, False)):
        near = looked_at(made, limit=limit).near
        assert near is not None
        assert (near.compared, near.truncated, len(near.pairs)) == (compared, truncated, compared)
    report = looked_at(made, limit=0)
    assert report.near is None
    assert report.unchecked == {"near duplicates": "the limit is 0"}


# Ids


def test_ids_with_personal_data_are_told(
    tmp_path: Path, write: Write, stack_of: Callable[..., Stack]
) -> None:
    root = write(tmp_path / "in", {"a@example.com/x.txt": "one", "y.txt": "two"})
    made = stack_of(root, tmp_path / "out")
    process(made, workers=1)
    for report in (looked_at(made), check(bundle_of(made))):
        assert report.identities is not None
        assert [(item.document, item.kinds) for item in report.identities] == [
            ("a@example.com/x.txt", ("EMAIL",))
        ]
        assert report.sound
        assert report.remarkable


def test_without_redaction_ids_are_not_looked_at(
    root: Path, tmp_path: Path, stack_of: Callable[..., Stack]
) -> None:
    made = stack_of(root, tmp_path / "bare", "signals.embedding=null")
    bare = Stack(made.model.model_copy(update={"redact": None}), made.file, made.lines)
    process(bare, workers=1)
    assert looked_at(bare).unchecked == {"ids": "the stack has no redactor"}


@pytest.mark.parametrize("options", [{"threshold": 0}, {"threshold": 1.1}, {"limit": -1}])
def test_numbers_out_of_range_are_refused(stack: Stack, options: dict) -> None:
    with pytest.raises(ValueError, match=r"threshold|limit"):
        looked_at(stack, **options)
