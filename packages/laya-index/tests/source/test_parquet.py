import datetime
import decimal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from laya_index.document import Skipped, SourceDocument
from laya_index.errors import SourceError
from laya_index.source.base import Source
from laya_index.source.parquet import ParquetSource
from laya_signals import ConfigError

Read = Callable[..., list[SourceDocument | Skipped]]
ROWS = {"id": ["d1", "d2"], "title": ["T", None], "text": ["Some\r\ntext.", "More."]}
DOCUMENTS = [
    SourceDocument("d1", "Some\ntext.", "T", "text/plain", "d1"),
    SourceDocument("d2", "More.", "", "text/plain", "d2"),
]


def write_parquet(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path, row_group_size=1)


def write_file(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=1)


def write_stream(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def from_columns(columns: dict[str, Any], **settings: Any) -> list:
        path = tmp_path / "t.parquet"
        pq.write_table(pa.table(columns), path)
        return list(ParquetSource(path=str(path), **settings).read())

    return from_columns


@pytest.mark.parametrize("write", [write_parquet, write_file, write_stream])
@pytest.mark.parametrize("batch_rows", [1, 2, 1024])
def test_any_table_of_arrow(
    tmp_path: Path, write: Callable[[pa.Table, Path], None], batch_rows: int
) -> None:
    path = tmp_path / "table"  # its content says what it is
    write(pa.table(ROWS), path)
    assert list(ParquetSource(path=str(path), batch_rows=batch_rows).read()) == DOCUMENTS


def test_a_folder_is_read_in_name_order(tmp_path: Path) -> None:
    for name, document_id in [("b.parquet", "b"), ("a/z.arrow", "a"), ("_SUCCESS", "x")]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        table = pa.table({"id": [document_id], "text": ["x"]})
        (write_file if name.endswith("arrow") else write_parquet)(table, path)
    found = list(ParquetSource(path=f"{tmp_path}/").read())
    assert [item.id for item in found] == ["a", "b"]


def test_columns_can_have_any_name(read: Read) -> None:
    columns = {"key": [1], "head": ["H"], "body.md": ["x"]}
    names = {"id_column": "key", "title_column": "head", "text_column": "body.md"}
    assert read(columns, **names, media_type="text/markdown") == [
        SourceDocument("1", "x", "H", "text/markdown", "1")
    ]


MOMENT = datetime.datetime(2024, 5, 1, 10, 30)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array(["s"]), "s"),
        (pa.array(["s"], pa.large_string()), "s"),
        (pa.array(["s"]).dictionary_encode(), "s"),
        (pa.array([2024], pa.uint64()), "2024"),
        (pa.array([1.5]), "1.5"),
        (pa.array([float("nan")]), "NaN"),
        (pa.array([True]), "true"),
        (pa.array([decimal.Decimal("1.10")]), "1.10"),
        (pa.array([datetime.date(2024, 5, 1)]), "2024-05-01"),
        (pa.array([datetime.time(10, 30)]), "10:30:00.000000"),
        (pa.array([MOMENT], pa.timestamp("ms")), "2024-05-01 10:30:00.000"),
        (pa.array([1], pa.timestamp("ns")), "1970-01-01 00:00:00.000000001"),
        (pa.array([MOMENT], pa.timestamp("ms", "UTC")), "2024-05-01 10:30:00.000Z"),
        (pa.array([None], pa.string()), None),
        (pa.array([None]), None),
        (pa.array([["list"]]), None),
        (pa.array([{"a": 1}]), None),
        (pa.array([b"binary"]), None),
    ],
)
def test_plain_values_become_metadata(read: Read, column: pa.Array, expected: str | None) -> None:
    (item,) = read({"id": ["a"], "text": ["x"], "more": column})
    assert isinstance(item, SourceDocument)
    assert item.metadata == ({} if expected is None else {"more": expected})


def test_metadata_can_be_chosen(read: Read) -> None:
    columns = {"id": ["a"], "text": ["x"], "title": ["T"], "b": [1], "c": [2]}
    (item,) = read(columns, metadata_columns=["c", "c"])
    assert isinstance(item, SourceDocument)
    assert item.metadata == {"c": "2"}
    assert read(columns, metadata_columns=[])[0].metadata == {}


def test_a_row_without_text_is_its_title_or_skipped(read: Read) -> None:
    found = read({"id": ["a", "b", "c"], "title": ["T", " ", None], "text": [None, "", " "]})
    assert found[0] == SourceDocument("a", "T", "T", "text/plain", "a")
    assert [(item.id, item.reason) for item in found[1:] if isinstance(item, Skipped)] == [
        ("b", "empty"),
        ("c", "empty"),
    ]


def test_a_column_that_is_all_null_has_no_type_and_is_empty(read: Read) -> None:
    (item,) = read({"id": ["a"], "text": [None], "title": ["T"]})
    assert isinstance(item, SourceDocument)
    assert item.text == "T"


@pytest.mark.parametrize("column", ["text", "title", "more"])
def test_what_is_no_utf8_skips_the_row_only(tmp_path: Path, column: str) -> None:
    broken = pa.array([b"x", b"\xff\xfe"]).view(pa.string())
    columns = {"id": ["a", "b"], "text": ["x", "y"], "title": ["", ""], "more": ["", ""]}
    write_file(pa.table({**columns, column: broken}), tmp_path / "t")
    kept, skipped = ParquetSource(path=str(tmp_path / "t")).read()
    assert kept.id == "a"
    assert isinstance(skipped, Skipped)
    assert (skipped.id, skipped.reason, skipped.bytes) == ("b", "undecodable", 2)
    assert skipped.detail == f"column {column!r} is no UTF-8"
    assert len(skipped.digest) == 64


@pytest.mark.parametrize(
    ("columns", "settings", "problem"),
    [
        ({"id": ["a"]}, {}, "t.parquet: no column 'text'; there are 'id'"),
        ({"text": ["a"]}, {}, "t.parquet: no column 'id'; there are 'text'"),
        ({"id": ["a"], "text": [1]}, {}, "column 'text' must hold strings, not int64"),
        ({"id": ["a"], "text": ["x"], "title": [1]}, {}, "column 'title' must hold strings"),
        ({"id": [1.5], "text": ["x"]}, {}, "column 'id' must hold strings or integers, not double"),
        ({"id": [True], "text": ["x"]}, {}, "column 'id' must hold strings or integers"),
        ({"id": ["a", None], "text": ["x", "y"]}, {}, "t.parquet: row 2: no usable id"),
        ({"id": ["a", ""], "text": ["x", "y"]}, {}, "t.parquet: row 2: no usable id"),
        (
            {"id": ["a", "b", "a"], "text": ["x", "y", "z"]},
            {},
            r"t.parquet: row 3: id 'a' was already used in .*t.parquet: row 1",
        ),
        ({"id": ["a"], "text": ["x"]}, {"metadata_columns": ["no"]}, "no column 'no'"),
        (
            {"id": ["a"], "text": ["x"], "l": [[1]]},
            {"metadata_columns": ["l"]},
            "column 'l' is no metadata: it holds list",
        ),
    ],
)
@pytest.mark.parametrize("batch_rows", [1, 1024])
def test_a_table_that_does_not_fit_is_named_with_its_row(
    read: Read, columns: dict, settings: dict, problem: str, batch_rows: int
) -> None:
    with pytest.raises(SourceError, match=problem):
        read(columns, batch_rows=batch_rows, **settings)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array(["a"])] * 3, names=["id", "text", "text"])
    write_file(table, tmp_path / "t")
    with pytest.raises(SourceError, match="two columns are called 'text'"):
        list(ParquetSource(path=str(tmp_path / "t")).read())


@pytest.mark.parametrize("data", [None, b"", b"PAR1 and no more", b"ARROW1\0\0", b"plain text\n"])
def test_a_file_that_is_no_table_is_named(tmp_path: Path, data: bytes | None) -> None:
    if data is not None:
        (tmp_path / "t.parquet").write_bytes(data)
    with pytest.raises(SourceError, match=r"source\.parquet: cannot read .*t\.parquet"):
        list(ParquetSource(path=str(tmp_path / "t.parquet")).read())


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": ["a"] * 9, "text": ["x" * 500] * 9}), path)
    data = bytearray(path.read_bytes())
    data[4:60] = bytes(56)
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"cannot read .*t\.parquet"):
        list(ParquetSource(path=str(path)).read())


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"has no file \.parquet, \.arrow"):
        list(ParquetSource(path=str(tmp_path)).read())


def test_an_empty_table_has_no_documents(read: Read) -> None:
    assert read({"id": pa.array([], pa.string()), "text": pa.array([], pa.string())}) == []


def test_a_large_table_is_read_a_few_rows_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    with pq.ParquetWriter(path, pa.schema([("id", pa.int64()), ("text", pa.string())])) as writer:
        for start in range(0, 40, 10):
            rows = pa.table({"id": range(start, start + 10), "text": ["x" * 1_000_000] * 10})
            writer.write_table(rows)
    before, most = pa.total_allocated_bytes(), 0
    for _ in ParquetSource(path=str(path), batch_rows=2).read():
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < 25_000_000


def test_it_is_a_source() -> None:
    assert isinstance(ParquetSource(path="x"), Source)
    for wrong in ({}, {"path": ""}, {"path": "x", "batch_rows": 0}):
        with pytest.raises(ConfigError):
            ParquetSource(wrong)


# S3


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = pytest.importorskip("moto.server", reason="needs the dependency group `servers`")
    running = server.ThreadedMotoServer("127.0.0.1", 0)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    from pyarrow import fs

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    host = endpoint.removeprefix("http://")
    filesystem = fs.S3FileSystem(
        endpoint_override=host, scheme="http", region="us-east-1", allow_bucket_creation=True
    )
    filesystem.create_dir("bucket")
    for name in ("one/a.parquet", "one/deep/b.parquet"):
        rows = {**ROWS, "id": [f"{name}-{row}" for row in ROWS["id"]]}
        pq.write_table(pa.table(rows), f"bucket/{name}", filesystem=filesystem)
    return filesystem


def from_s3(endpoint: str, path: str) -> list[str]:
    source = ParquetSource(path=path, endpoint_override=endpoint, region="us-east-1")
    return [item.id for item in source.read()]


@pytest.mark.slow
def test_a_table_in_s3(endpoint: str, bucket: Any) -> None:
    assert from_s3(endpoint, "s3://bucket/one/a.parquet") == [
        "one/a.parquet-d1",
        "one/a.parquet-d2",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", ["s3://bucket", "s3://bucket/", "s3://bucket/one"])
def test_a_prefix_in_s3(endpoint: str, bucket: Any, path: str) -> None:
    assert len(from_s3(endpoint, path)) == 4


@pytest.mark.slow
def test_what_is_not_in_s3_is_named(endpoint: str, bucket: Any) -> None:
    for path in ("s3://bucket/no.parquet", "s3://no-bucket/a.parquet"):
        with pytest.raises(SourceError, match=f"cannot read '{path}'"):
            from_s3(endpoint, path)
    rows = pa.table({"id": ["a", None], "text": ["x", "y"]})
    pq.write_table(rows, "bucket/bad.parquet", filesystem=bucket)
    with pytest.raises(SourceError, match=r"s3://bucket/bad\.parquet: row 2: no usable id"):
        from_s3(endpoint, "s3://bucket/bad.parquet")
    bucket.delete_file("bucket/bad.parquet")


@pytest.mark.slow
def test_a_server_that_is_not_there_is_told(bucket: Any) -> None:
    with pytest.raises(SourceError, match="cannot read 's3://bucket/a'"):
        from_s3("http://127.0.0.1:1", "s3://bucket/a")
