import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from laya_index import shard as sharding
from laya_index.bundle import writer as bundle_writer
from laya_index.bundle.cache import cache_folder
from laya_index.bundle.lock import writer_lock
from laya_index.bundle.manifest import FILE_NAME, read_manifest
from laya_index.bundle.reader import BundleReader
from laya_index.delete import delete, restore
from laya_index.errors import BundleError, LockedError, ManifestError, UnknownDocumentError
from laya_index.process import RunReport

Run = Callable[..., RunReport]
Write = Callable[[Path, dict[str, str | bytes]], Path]
BytesOf = Callable[[Path], dict[str, bytes]]

EVERY_SIGNAL = (
    "signals.sparse={provider: sparse.hashing}",
    "signals.multivector={provider: multivector.hashing, keep_multivectors: true}",
    "signals.fde={provider: fde.muvera}",
)
FIELDS = "{title: {weight: 2, b: 0.5}, headings: {}, content: {}}"
GRAPH = ["graph.provider=graph.patterns"]
LIMITED = [*GRAPH, "graph.max_nodes=3", "graph.max_neighbors=2", "graph.max_evidence=1"]
BM25F = [f"signals.bm25={{provider: tokenizer.word, bm25f: {FIELDS}}}"]
MAIL = "Write to someone@example.org about the tide.\n"


@pytest.fixture(autouse=True)
def _no_flush_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_writer, "_sync", lambda path: None)


def corpus(count: int) -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = {
        f"{'ab'[n % 2]}/{n:03d}.md": f"# Page {n}\n\n"
        + f"Common words and word{n}. " * (n % 9)
        + MAIL
        for n in range(count)
    }
    return {**files, "picture.bin": b"\x00\x01\x02", "empty.md": ""}


#: An acronym with two meanings and entities that few documents have: what one of them says decides
#: what others hold.
PHRASES = ["Ada Lovelace", "Charles Babbage", "Difference Engine (DE)", "DE", "Dread Empire (DE)"]
PHRASES += ["snake_case", "[that](../a/000.md)", "mail a@example.com", "\n\n# Ada Lovelace\n\n"]


def linked(texts: list[list[str]]) -> dict[str, str | bytes]:
    """A document of each list of phrases."""
    return {
        f"{'ab'[n % 2]}/{n:03d}.md": f"with {n} " + " and ".join(phrases)
        for n, phrases in enumerate(texts)
    }


def listed(bundle: Path, excluded: list[str]) -> dict[str, bytes]:
    """The files of a bundle, with these ids on its list of exclusions."""
    manifest = read_manifest(bundle).model_copy(update={"excluded": sorted(excluded)})
    files = {
        path.relative_to(bundle).as_posix(): path.read_bytes()
        for path in sorted(bundle.rglob("*"))
        if path.is_file()
    }
    return {**files, FILE_NAME: manifest.to_json().encode()}


def without(files: dict[str, str | bytes], gone: list[str]) -> dict[str, str | bytes]:
    return {name: text for name, text in files.items() if name not in gone}


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    size=st.integers(1, 20),
    shard=st.sampled_from([2, 5, 1024]),
    chosen=st.sets(st.integers(0, 19), min_size=1),
    cache=st.booleans(),
    data=st.data(),
)
def test_deleting_equals_a_fresh_build_without_and_process_keeps_it_so(
    tmp_path_factory: pytest.TempPathFactory,
    run: Run,
    write: Write,
    bytes_of: BytesOf,
    size: int,
    shard: int,
    chosen: set[int],
    cache: bool,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("delete")
    files = corpus(size)
    names = sorted(name for name in files if name.endswith(".md") and name != "empty.md")
    gone = sorted({names[n % size] for n in chosen})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharding, "SHARD_DOCUMENTS", shard)
        root = write(folder / "all", files)
        out = folder / "out"
        run(root, out, *EVERY_SIGNAL)
        if not cache:
            shutil.rmtree(cache_folder(out))
        # In one go or in two: the way there does not matter.
        first = data.draw(st.integers(0, len(gone)))
        if 0 < first < len(gone):
            delete(out, gone[:first])
        report = delete(out, gone[first:] if 0 < first < len(gone) else gone)
        assert (report.state, report.excluded) == ("changed", tuple(gone))

        run(write(folder / "rest", without(files, gone)), folder / "fresh", *EVERY_SIGNAL)
        expected = listed(folder / "fresh", gone)
        assert bytes_of(out) == expected
        manifest = read_manifest(out)
        assert (report.documents, report.chunks) == (
            manifest.counts.documents,
            manifest.counts.chunks,
        )
        again = run(root, out, *EVERY_SIGNAL)
        assert (again.state, again.skipped["excluded"]) == ("unchanged", len(gone))
        assert bytes_of(out) == expected
        run(root, out, *EVERY_SIGNAL, full=True)
        assert bytes_of(out) == expected


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.lists(st.sampled_from(PHRASES), max_size=12), min_size=1, max_size=12),
    shard=st.sampled_from([1, 2, 5, 1024]),
    chosen=st.sets(st.integers(0, 11), min_size=1),
    sets=st.sampled_from([GRAPH, LIMITED]),
    data=st.data(),
)
def test_deleting_from_a_bundle_with_a_graph_equals_a_fresh_build_without(
    tmp_path_factory: pytest.TempPathFactory,
    run: Run,
    write: Write,
    bytes_of: BytesOf,
    texts: list[list[str]],
    shard: int,
    chosen: set[int],
    sets: list[str],
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("delete")
    files = linked(texts)
    gone = sorted({sorted(files)[n % len(files)] for n in chosen})
    first = data.draw(st.integers(0, len(gone)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharding, "SHARD_DOCUMENTS", shard)
        root = write(folder / "all", files)
        out = folder / "out"
        run(root, out, *sets)
        for part in (gone[:first], gone[first:]):
            delete(out, part)
        (folder / "rest").mkdir()
        run(write(folder / "rest", without(files, gone)), folder / "fresh", *sets)
        expected = listed(folder / "fresh", gone)
        assert bytes_of(out) == expected
        # The mentions are those of a run, too: it finds nothing to do.
        kept, fresh = (
            {path.name: path.read_bytes() for path in (cache_folder(it) / "mentions").iterdir()}
            for it in (out, folder / "fresh")
        )
        assert kept == fresh
        assert run(root, out, *sets).state == "unchanged"
        run(root, out, *sets, full=True)
        assert bytes_of(out) == expected


def test_shards_are_joined_where_documents_became_few(
    tmp_path: Path,
    run: Run,
    write: Write,
    bytes_of: BytesOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sharding, "SHARD_DOCUMENTS", 2)
    files = corpus(9)
    gone = sorted(files)[:5]
    run(write(tmp_path / "all", files), tmp_path / "out")
    before = len(read_manifest(tmp_path / "out").of_kind("chunks"))
    delete(tmp_path / "out", gone)
    run(write(tmp_path / "rest", without(files, gone)), tmp_path / "fresh")
    assert bytes_of(tmp_path / "out") == listed(tmp_path / "fresh", gone)
    assert len(read_manifest(tmp_path / "out").of_kind("chunks")) < before


@pytest.mark.slow
def test_pages_break_where_a_fresh_build_breaks_them(
    tmp_path: Path, run: Run, write: Write, bytes_of: BytesOf
) -> None:
    files = without(corpus(700), ["empty.md"])
    files = {name: text * 30 if isinstance(text, str) else text for name, text in files.items()}
    gone = ["a/000.md", "b/333.md", "a/698.md"]
    run(write(tmp_path / "all", files), tmp_path / "out")
    assert read_manifest(tmp_path / "out").counts.chunks > 8192
    delete(tmp_path / "out", gone)
    run(write(tmp_path / "rest", without(files, gone)), tmp_path / "fresh")
    assert bytes_of(tmp_path / "out") == listed(tmp_path / "fresh", gone)


@pytest.mark.parametrize(
    "sets",
    [["signals.bm25=null"], ["signals.embedding=null"], BM25F, EVERY_SIGNAL, GRAPH, LIMITED],
)
def test_whatever_signals_a_bundle_has(
    tmp_path: Path, run: Run, write: Write, bytes_of: BytesOf, sets: list[str]
) -> None:
    files = {**corpus(4), **linked([PHRASES[:4], PHRASES[1:5], PHRASES[3:4]])}
    run(write(tmp_path / "all", files), tmp_path / "out", *sets)
    delete(tmp_path / "out", ["a/000.md"])
    run(write(tmp_path / "rest", without(files, ["a/000.md"])), tmp_path / "fresh", *sets)
    assert bytes_of(tmp_path / "out") == listed(tmp_path / "fresh", ["a/000.md"])


@pytest.fixture
def out(tmp_path: Path, run: Run, write: Write) -> Path:
    run(write(tmp_path / "in", corpus(6)), tmp_path / "out")
    return tmp_path / "out"


def ids(bundle: Path) -> list[str]:
    with BundleReader.open(bundle) as reader:
        return reader.read("documents", ["document_id"])["document_id"].to_pylist()


def test_a_bundle_without_exclusions_does_not_mention_them(out: Path) -> None:
    data = json.loads((out / FILE_NAME).read_text())
    assert not {"excluded", "sized_by_corpus"} & data.keys()


def test_patterns_choose_among_the_documents_that_are_there(
    out: Path, tmp_path: Path, run: Run, write: Write
) -> None:
    report = delete(out, ["b/001.md"], patterns=["a/**"])
    assert report.deleted == ("a/000.md", "a/002.md", "a/004.md", "b/001.md")
    write(tmp_path / "in", {"a/new.md": "Came later."})
    assert run(tmp_path / "in", out).added == 1
    assert ids(out) == ["a/new.md", "b/003.md", "b/005.md"]


def test_what_was_restored_comes_back_with_the_next_run(
    out: Path, tmp_path: Path, run: Run, bytes_of: BytesOf
) -> None:
    before = bytes_of(out)
    delete(out, ["a/000.md", "b/001.md"])
    assert restore(out, ["a/000.md"]).excluded == ("b/001.md",)
    assert "a/000.md" not in ids(out)
    assert run(tmp_path / "in", out).added == 1
    assert "a/000.md" in ids(out)
    restore(out, ["b/001.md"])
    run(tmp_path / "in", out)
    assert bytes_of(out) == before


def test_deleting_twice_changes_nothing(out: Path, bytes_of: BytesOf) -> None:
    delete(out, ["a/000.md"])
    before = bytes_of(out)
    report = delete(out, ["a/000.md"])
    assert (report.state, report.deleted, report.listed) == ("unchanged", (), ("a/000.md",))
    assert bytes_of(out) == before


def test_a_dry_run_says_the_same_and_writes_nothing(out: Path, bytes_of: BytesOf) -> None:
    before = bytes_of(out.parent)
    planned = delete(out, ["a/000.md"], patterns=["b/*"], dry_run=True)
    assert bytes_of(out.parent) == before
    done = delete(out, ["a/000.md"], patterns=["b/*"])
    assert (planned.state, done.state) == ("dry run", "changed")
    assert planned.deleted == done.deleted
    assert (planned.documents, planned.chunks) == (done.documents, done.chunks)
    before = bytes_of(out)
    assert restore(out, ["a/000.md"], dry_run=True).restored == ("a/000.md",)
    assert bytes_of(out) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ids": ["a/000.md", "no/such.md"]}, "no/such.md"),
        ({"patterns": ["c/*"]}, "c/\\*"),
        ({"patterns": ["[z-a]"]}, "no document|no pattern"),
    ],
)
def test_what_is_not_there_is_refused_and_nothing_changes(
    out: Path, bytes_of: BytesOf, arguments: dict[str, list[str]], message: str
) -> None:
    before = bytes_of(out)
    with pytest.raises(UnknownDocumentError, match=message):
        delete(out, **arguments)
    assert bytes_of(out) == before


def test_only_what_was_deleted_can_be_restored(out: Path) -> None:
    with pytest.raises(UnknownDocumentError, match=r"b/003\.md"):
        restore(out, ["b/003.md"])


def test_passages_sized_by_the_corpus_cannot_be_kept(
    tmp_path: Path, run: Run, write: Write, bytes_of: BytesOf
) -> None:
    run(write(tmp_path / "in", corpus(3)), tmp_path / "out", "chunk.chars=auto")
    before = bytes_of(tmp_path / "out")
    with pytest.raises(BundleError, match="chars: auto"):
        delete(tmp_path / "out", ["a/000.md"])
    assert bytes_of(tmp_path / "out") == before
    # The list alone needs no rows; the next run does the rest.
    report = delete(tmp_path / "out", ["a/000.md"], next_run=True)
    assert (report.state, report.deleted, report.listed) == ("changed", (), ("a/000.md",))
    assert "a/000.md" in ids(tmp_path / "out")
    assert delete(tmp_path / "out", ["a/000.md"], next_run=True).state == "unchanged"
    assert run(tmp_path / "in", tmp_path / "out", "chunk.chars=auto").removed == 1
    assert "a/000.md" not in ids(tmp_path / "out")


@pytest.mark.parametrize("lost", ["all", "mentions"])
def test_a_graph_whose_mentions_are_lost_needs_a_run_first(
    tmp_path: Path, run: Run, write: Write, bytes_of: BytesOf, lost: str
) -> None:
    root, out = write(tmp_path / "in", corpus(3)), tmp_path / "out"
    run(root, out, *GRAPH)
    cache = cache_folder(out)
    shutil.rmtree(cache if lost == "all" else cache / lost)
    before = bytes_of(out)
    for dry in (True, False):
        with pytest.raises(BundleError, match=r"mention.*run `laya process` first"):
            delete(out, ["a/000.md"], dry_run=dry)
    assert bytes_of(out) == before
    assert run(root, out, *GRAPH).state == "unchanged"
    assert delete(out, ["a/000.md"]).deleted == ("a/000.md",)


def test_a_damaged_cache_of_mentions_is_named(
    tmp_path: Path, run: Run, write: Write, bytes_of: BytesOf
) -> None:
    run(write(tmp_path / "in", corpus(3)), tmp_path / "out", *GRAPH)
    (path,) = (cache_folder(tmp_path / "out") / "mentions").iterdir()
    path.write_bytes(b"garbage")
    before = (tmp_path / "out" / FILE_NAME).read_bytes()
    with pytest.raises(BundleError, match=f"{path.name}.*delete it and run"):
        delete(tmp_path / "out", ["a/000.md"])
    assert (tmp_path / "out" / FILE_NAME).read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_nodes": 7}, "another release"),
        ({"provider": "graph.nothing"}, "unknown provider 'graph.nothing'"),
    ],
)
def test_a_graph_that_cannot_be_made_here_is_refused(
    tmp_path: Path,
    run: Run,
    write: Write,
    bytes_of: BytesOf,
    change: dict[str, object],
    message: str,
) -> None:
    out = tmp_path / "out"
    run(write(tmp_path / "in", corpus(3)), out, *GRAPH)
    data = json.loads((out / FILE_NAME).read_text())
    data["graph"].update(change)
    (out / FILE_NAME).write_text(json.dumps(data))
    before = bytes_of(out)
    with pytest.raises(BundleError, match=message):
        delete(out, ["a/000.md"])
    assert bytes_of(out) == before


def test_files_made_from_all_documents_cannot_be_kept(out: Path) -> None:
    data = json.loads((out / FILE_NAME).read_text())
    data["files"][-1]["kind"] = "summary"
    (out / FILE_NAME).write_text(json.dumps(data))
    with pytest.raises(BundleError, match="summary files"):
        delete(out, ["a/000.md"])


def test_a_shard_that_another_release_built_is_refused(out: Path) -> None:
    data = json.loads((out / FILE_NAME).read_text())
    data["components"]["chunk"] = "0" * 16
    (out / FILE_NAME).write_text(json.dumps(data))
    with pytest.raises(BundleError, match="another release"):
        delete(out, ["a/000.md"])


def test_a_bundle_that_is_being_written_is_left_alone(out: Path) -> None:
    with writer_lock(cache_folder(out), out), pytest.raises(LockedError):
        delete(out, ["a/000.md"])


def test_without_a_bundle_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="holds no bundle"):
        delete(tmp_path / "nothing", ["x"])
    assert not list(tmp_path.iterdir())


def test_the_last_document_can_go(out: Path, tmp_path: Path, run: Run) -> None:
    delete(out, patterns=["*"])
    assert ids(out) == []
    assert run(tmp_path / "in", out).state == "unchanged"


def test_a_reader_keeps_what_it_opened(out: Path) -> None:
    with BundleReader.open(out) as reader:
        delete(out, ["a/000.md"])
        assert "a/000.md" in reader.read("documents")["document_id"].to_pylist()


def test_the_cache_keeps_no_postings_of_what_was_deleted(out: Path) -> None:
    before = {path.name for path in (cache_folder(out) / "postings").iterdir()}
    delete(out, ["a/000.md"])
    assert not before & {path.name for path in (cache_folder(out) / "postings").iterdir()}
