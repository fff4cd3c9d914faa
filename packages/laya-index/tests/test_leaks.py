import gzip
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from laya_index.leaks import Leak, find_leaks, leaks_in

PLANTED = {"mail": "Zorqua@keld.example", "card": "4532 0151 1283 0366"}
TYPES: dict[str, Callable[[str], pa.Array]] = {
    "string": lambda value: pa.array([value]),
    "large string": lambda value: pa.array([value], pa.large_string()),
    "binary": lambda value: pa.array([value.encode()]),
    "list": lambda value: pa.array([["a", value]]),
    "list of lists": lambda value: pa.array([[["a"], [value]]]),
    "fixed list": lambda value: pa.array([["a", value]], pa.list_(pa.string(), 2)),
    "struct": lambda value: pa.array([{"a": 1, "b": value}]),
    "map key": lambda value: pa.array([[(value, "v")]], pa.map_(pa.string(), pa.string())),
    "map value": lambda value: pa.array([[("k", value)]], pa.map_(pa.string(), pa.string())),
    "dictionary": lambda value: pa.array([value]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", TYPES)
def test_a_parquet_file_is_read_as_what_it_holds(tmp_path: Path, kind: str) -> None:
    table = pa.table({"x": TYPES[kind](f"to {PLANTED['mail']}"), "n": [1]})
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd", write_statistics=False)
    assert Leak("a.parquet", "column x", "mail") in find_leaks(tmp_path, PLANTED)
    pq.write_table(pa.table({"x": TYPES[kind]("nothing"), "n": [1]}), tmp_path / "a.parquet")
    assert find_leaks(tmp_path, PLANTED) == []


@pytest.mark.parametrize("shown", ["x", b"x"])
def test_a_database_is_read_as_what_it_holds(tmp_path: Path, shown: str | bytes) -> None:
    mail = PLANTED["mail"]
    value = shown.replace("x", mail) if isinstance(shown, str) else mail.encode()
    db = sqlite3.connect(tmp_path / "a.sqlite")
    db.execute("PRAGMA journal_mode=WAL")
    db.execute('CREATE TABLE "odd ""name" (k, v)')
    db.execute('INSERT INTO "odd ""name" VALUES (1, ?)', (value,))
    db.commit()
    # Still open: the row is in the writer's log alone.
    assert Leak("a.sqlite", 'table odd "name', "mail") in find_leaks(tmp_path, PLANTED)
    db.close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert Leak("a.sqlite", 'table odd "name', "mail") in find_leaks(tmp_path, PLANTED)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "text",
    [
        "Zorqua@keld.example",
        "say zorqua@keld.EXAMPLE.",
        "mailto:zorqua%40keld.example",
        "zorqua&#64;keld.example",
        "4532-0151-1283-0366",
        "card4532015112830366x",
        "４５３２ 0151 1283 0366",
    ],
)
def test_other_spellings_of_a_value_are_found(text: str) -> None:
    assert len(leaks_in(text, PLANTED)) == 1


@pytest.mark.parametrize(
    "text", ["", "zorqua", "keld.example", "4532 0151 1283 0367", "[EMAIL] [CARD]"]
)
def test_pieces_and_placeholders_are_no_leak(text: str) -> None:
    assert leaks_in(text, PLANTED) == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_every_byte_of_a_large_file_is_looked_at(tmp_path: Path, encoding: str) -> None:
    mail = PLANTED["mail"].encode(encoding)
    block = 1 << 22
    (tmp_path / "log").write_bytes(b"\0" * (block - len(mail) // 2) + mail + b"\0" * 100)
    assert find_leaks(tmp_path, PLANTED) == [Leak("log", "bytes", "mail")]


def test_names_json_escapes_and_gzip_hide_nothing(tmp_path: Path) -> None:
    escaped = "".join(f"\\u{ord(char):04x}" for char in PLANTED["mail"])
    (tmp_path / "a.json").write_text(f'{{"a": [{{"{escaped}": 1}}]}}')
    (tmp_path / "b.jsonl").write_text(f'{{"a": 1}}\nnot json\n{{"a": "{escaped}"}}\n')
    (tmp_path / "c.gz").write_bytes(gzip.compress(PLANTED["mail"].encode()))
    (tmp_path / "sub" / PLANTED["mail"]).mkdir(parents=True)
    (tmp_path / "sub" / PLANTED["mail"] / "x").write_text("")
    found = find_leaks(tmp_path, PLANTED)
    assert [(leak.path, leak.place) for leak in found] == [
        ("a.json", "JSON string"),
        ("b.jsonl", "JSON string"),
        ("c.gz", "unpacked"),
        (f"sub/{PLANTED['mail']}/x", "file name"),
    ]
    assert json.loads((tmp_path / "a.json").read_text())


@pytest.mark.parametrize("start", [b"PAR1", b"SQLite format 3\x00", b"\x1f\x8b"])
def test_of_a_torn_file_the_bytes_are_looked_at(tmp_path: Path, start: bytes) -> None:
    (tmp_path / "torn").write_bytes(start + b"xx" + PLANTED["mail"].encode())
    assert find_leaks(tmp_path, PLANTED) == [Leak("torn", "bytes", "mail")]


def test_a_report_of_leaks_repeats_no_value(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(PLANTED["mail"])
    (leak,) = find_leaks(tmp_path, PLANTED)
    assert str(leak) == "mail in x (bytes)"


def test_a_value_that_everything_holds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'nothing' is empty"):
        find_leaks(tmp_path, {"nothing": " "})
