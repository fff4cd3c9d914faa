from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from laya_index.bundle.manifest import read_manifest
from laya_index.bundle.reader import BundleReader
from laya_index.bundle.schema import CHUNK_COLUMNS, DOCUMENT_COLUMNS
from laya_index.errors import BundleError, ManifestError


@pytest.fixture
def bundle(tmp_path: Path, run: Callable, write: Callable) -> Path:
    write(tmp_path / "in", {f"{n}.txt": f"text number {n}" for n in range(3)})
    run(tmp_path / "in", tmp_path / "out")
    return tmp_path / "out"


def test_all_rows_of_a_kind(bundle: Path) -> None:
    with BundleReader.open(bundle) as reader:
        assert reader.read("documents").schema.equals(DOCUMENT_COLUMNS)
        chunks = reader.read("chunks")
        assert chunks.schema.names[:-1] == CHUNK_COLUMNS.names
        assert chunks.num_rows == 3
        again = reader.read("chunks", ["ordinal", "content"])
        assert again.column_names == ["ordinal", "content"]


def test_a_kind_that_is_not_there_is_named(bundle: Path) -> None:
    with BundleReader.open(bundle) as reader, pytest.raises(BundleError, match="no skipped file"):
        reader.read("skipped")


def test_a_folder_without_a_bundle_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ManifestError, match="holds no bundle"):
            BundleReader.open(path)


@pytest.mark.parametrize("kind", ["documents", "chunks", "bm25-terms", "bm25-postings"])
def test_a_missing_or_shortened_file_is_named_when_the_bundle_is_opened(
    bundle: Path, kind: str
) -> None:
    path = bundle / read_manifest(bundle).of_kind(kind)[0].path
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BundleError, match=rf"{path.name}.* bytes, the manifest says"):
        BundleReader.open(bundle)
    path.unlink()
    with pytest.raises(BundleError, match=rf"{path.name}.* is named by the manifest but missing"):
        BundleReader.open(bundle)
    path.mkdir()
    with pytest.raises(BundleError, match=path.name):
        BundleReader.open(bundle)


@pytest.mark.parametrize("kind", ["documents", "chunks", "bm25-terms", "bm25-postings"])
def test_flipped_bits_in_any_page_are_noticed(bundle: Path, kind: str) -> None:
    path = bundle / read_manifest(bundle).of_kind(kind)[0].path
    whole = path.read_bytes()
    with BundleReader.open(bundle) as reader:
        expected = reader.read(kind)
    noticed = []
    pages = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for place in range(4, pages, 41):
        data = bytearray(whole)
        data[place] ^= 0x10
        path.write_bytes(data)
        with BundleReader.open(bundle) as reader:
            try:
                found = reader.read(kind)
            except BundleError as error:
                noticed.append(str(error))
            else:
                # In a page's statistics, which no value depends on.
                assert found.equals(expected)
    assert len(noticed) > 3
    assert all(path.name in message for message in noticed)


@pytest.mark.parametrize("rows", [1, 2, 1000])
def test_batches_are_the_rows_of_a_kind(bundle: Path, rows: int) -> None:
    columns = ["record_id", "content"]
    with BundleReader.open(bundle) as reader:
        batches = list(reader.batches("chunks", columns, rows=rows))
        assert max(len(batch) for batch in batches) <= rows
        assert pa.Table.from_batches(batches) == reader.read("chunks", columns)


def test_the_schema_of_a_kind(bundle: Path) -> None:
    with BundleReader.open(bundle) as reader:
        assert reader.schema("chunks").names == reader.read("chunks").schema.names
        with pytest.raises(BundleError, match="nonsense"):
            reader.schema("nonsense")
        with pytest.raises(BundleError, match="nonsense"):
            list(reader.batches("nonsense", []))
