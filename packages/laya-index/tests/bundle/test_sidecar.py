from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from laya_index.bundle import writer as module
from laya_index.bundle.manifest import Counts, Manifest, StackEntry
from laya_index.bundle.schema import MULTIVECTOR_COLUMNS
from laya_index.bundle.writer import BundleWriter

TABLE = pa.table([["a"], [[[1.0, 2.0]]]], schema=MULTIVECTOR_COLUMNS)


def manifest(*files: object) -> Manifest:
    counts = Counts(documents=0, chunks=0, terms=0, skipped={}, redactions={})
    return Manifest.model_validate(
        {"stack": StackEntry(name="t", hash="h"), "counts": counts, "components": {}}
        | {"tenants": None, "bm25": None, "embeddings": {}, "files": list(files)}
    )


def test_the_folder_is_there_only_while_there_are_files_in_it(tmp_path: Path) -> None:
    writer = BundleWriter(tmp_path)
    assert not (tmp_path / "multivectors").exists()
    entry = writer.add_table(TABLE, "multivectors", shard=2, inputs="i")
    assert entry.path == f"multivectors/002-{entry.sha256[:16]}.parquet"
    writer.commit(manifest(entry))
    assert (tmp_path / entry.path).exists()
    writer.commit(manifest())
    assert not (tmp_path / "multivectors").exists()


def test_leftovers_go_and_other_files_stay(tmp_path: Path) -> None:
    writer = BundleWriter(tmp_path)
    (tmp_path / "multivectors").mkdir()
    (tmp_path / "multivectors" / "000-0123456789abcdef.parquet").write_text("x")
    (tmp_path / "multivectors" / "mine.parquet").write_text("x")
    entry = writer.add_table(TABLE, "multivectors", shard=0)
    writer.clean([entry])
    names = {path.name for path in (tmp_path / "multivectors").iterdir()}
    assert names == {"mine.parquet", Path(entry.path).name}


def test_the_folder_is_on_the_disk_before_the_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(module, "_sync", lambda path: done.append(path.name))
    writer = BundleWriter(tmp_path)
    writer.commit(manifest(writer.add_table(TABLE, "multivectors", shard=0)))
    assert done.index("multivectors") < done.index(".tmp-manifest.json")


@pytest.mark.parametrize("work", ["table", "commit", "clean"])
def test_a_folder_that_may_not_be_written_is_named(
    work: str, tmp_path: Path, as_nobody: Callable[[Callable[[], object]], str]
) -> None:
    folder = tmp_path / "b"
    writer = BundleWriter(folder)
    if work != "table":
        (folder / "multivectors").mkdir()
        (folder / "multivectors" / "000-0123456789abcdef.parquet").write_text("x")
    do = {
        "table": lambda: writer.add_table(TABLE, "multivectors", shard=0),
        "commit": lambda: writer.commit(manifest()),
        "clean": lambda: writer.clean([]),
    }[work]
    places = [path for path in (folder, folder / "multivectors") if path.exists()]
    for path in places:
        path.chmod(0o555)
    said = as_nobody(do)
    for path in places:
        path.chmod(0o755)
    assert said.startswith(f"BundleError: cannot write '{folder}': ")
