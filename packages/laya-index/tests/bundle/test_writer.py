import hashlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from laya_index.bundle import writer as module
from laya_index.bundle.manifest import Counts, Manifest, StackEntry, read_manifest
from laya_index.bundle.reader import BundleReader
from laya_index.bundle.schema import TERM_COLUMNS, write_table
from laya_index.bundle.writer import BundleWriter
from laya_index.errors import BundleError

TABLE = pa.table([["a", "b"], [1, 2], [3, 4], [0.5, 0.25]], schema=TERM_COLUMNS)


def manifest(*files: object) -> Manifest:
    counts = Counts(documents=0, chunks=0, terms=0, skipped={}, redactions={})
    return Manifest.model_validate(
        {"stack": StackEntry(name="t", hash="h"), "counts": counts, "components": {}}
        | {"tenants": None, "bm25": None, "embeddings": {}, "files": list(files)}
    )


def test_a_file_is_named_by_its_content(tmp_path: Path) -> None:
    writer = BundleWriter(tmp_path / "b")
    entry = writer.add_table(TABLE, "documents", shard=3, inputs="i")
    data = (tmp_path / "b" / entry.path).read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    assert entry.path == f"documents/003-{digest[:16]}.parquet"
    assert (entry.sha256, entry.bytes, entry.rows) == (digest, len(data), 2)
    assert (entry.shard, entry.inputs) == (3, "i")
    assert writer.add_table(TABLE, "bm25-terms").path == f"bm25-terms-{digest[:16]}.parquet"


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    entries = [BundleWriter(tmp_path / n).add_table(TABLE, "bm25-terms") for n in ("a", "b")]
    assert entries[0] == entries[1]


def test_a_streamed_file_holds_all_its_tables(tmp_path: Path) -> None:
    stream = BundleWriter(tmp_path).stream("bm25-terms", TERM_COLUMNS)
    for _ in range(3):
        stream.write(TABLE)
    entry = stream.close(inputs="i")
    assert entry.rows == 6
    assert pq.read_table(tmp_path / entry.path).equals(pa.concat_tables([TABLE] * 3))


def test_nothing_is_visible_before_the_commit_and_the_old_is_gone_after(tmp_path: Path) -> None:
    writer = BundleWriter(tmp_path)
    old = writer.add_table(TABLE, "bm25-terms")
    writer.commit(manifest(old))
    new = writer.add_table(TABLE.slice(1), "bm25-terms")
    assert read_manifest(tmp_path) == manifest(old)
    with BundleReader.open(tmp_path) as reader:
        assert reader.read("bm25-terms").equals(TABLE)
    writer.commit(manifest(new))
    assert {path.name for path in tmp_path.glob("*.*")} == {"manifest.json", new.path}


def test_the_manifest_is_the_last_thing_to_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    sync, replace = module._sync, Path.replace
    monkeypatch.setattr(
        module, "_sync", lambda path: (done.append(f"sync {path.name}"), sync(path))
    )
    monkeypatch.setattr(
        Path, "replace", lambda self, to: (done.append(f"name {to.name}"), replace(self, to))[1]
    )
    writer = BundleWriter(tmp_path / "b")
    entry = writer.add_table(TABLE, "documents", shard=0)
    writer.commit(manifest(entry))
    assert done == [
        *["sync .tmp-documents", f"name {Path(entry.path).name}"],
        *["sync documents", "sync chunks", "sync .tmp-manifest.json", "sync b"],
        *["name manifest.json", "sync b"],
    ]


def test_leftovers_of_a_killed_run_go_and_other_files_stay(tmp_path: Path) -> None:
    writer = BundleWriter(tmp_path)
    ours = [
        "documents/000-0123456789abcdef.parquet",
        "bm25-terms-0123456789abcdef.parquet",
        ".tmp-x",
    ]
    theirs = ["data.parquet", "chunks/mine.parquet", "notes.txt", "x/y.parquet"]
    for name in (*ours, *theirs):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    entry = writer.add_table(TABLE, "bm25-terms")
    writer.clean([entry])
    assert {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()} == {
        entry.path,
        *theirs,
    }


@pytest.mark.parametrize("work", ["table", "stream", "commit", "clean"])
def test_a_folder_that_may_not_be_written_is_named(
    work: str, tmp_path: Path, as_nobody: Callable[[Callable[[], object]], str]
) -> None:
    folder = tmp_path / "b"
    writer = BundleWriter(folder)
    (folder / ".tmp-old").write_text("x")
    do = {
        "table": lambda: writer.add_table(TABLE, "documents", shard=0),
        "stream": lambda: writer.stream("bm25-terms", TERM_COLUMNS),
        "commit": lambda: writer.commit(manifest()),
        "clean": lambda: writer.clean([]),
    }[work]
    folder.chmod(0o555)
    said = as_nobody(do)
    folder.chmod(0o755)
    assert said.startswith(f"BundleError: cannot write '{folder}': ")


def test_a_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("x")
    with pytest.raises(BundleError, match=r"cannot write to .*/b'"):
        BundleWriter(tmp_path / "b")


def test_rows_without_a_single_value_keep_their_types(tmp_path: Path) -> None:
    write_table(TERM_COLUMNS.empty_table(), tmp_path / "x.parquet")
    assert pq.read_table(tmp_path / "x.parquet").schema.equals(TERM_COLUMNS)
