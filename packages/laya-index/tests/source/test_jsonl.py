import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from laya_index.document import Skipped, SourceDocument
from laya_index.errors import SourceError
from laya_index.source.base import Source
from laya_index.source.jsonl import JsonlSource

Read = Callable[..., list[SourceDocument | Skipped]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def from_lines(*lines: str | bytes, name: str = "corpus.jsonl", **settings: str) -> list:
        data = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
        path = tmp_path / name
        path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
        return list(JsonlSource(path=path, **settings).read())

    return from_lines


BEIR = [
    '{"_id": "d1", "title": "T", "text": "Some text.", "metadata": {}}',
    '{"_id": "d2", "title": "", "text": "More."}',
    "",
]


@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.jsonl.gz"])
def test_a_beir_corpus(read: Read, name: str) -> None:
    assert read(*BEIR, name=name) == [
        SourceDocument("d1", "Some text.", "T", "text/plain", "d1"),
        SourceDocument("d2", "More.", "", "text/plain", "d2"),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'\xef\xbb\xbf{"_id": "a", "text": "x"}', SourceDocument("a", "x", uri="a")),
        ('{"_id": 7, "text": "x"}', SourceDocument("7", "x", uri="7")),
        ('{"_id": "a", "text": "x\\r\\ny\\rz"}', SourceDocument("a", "x\ny\nz", uri="a")),
        (
            '{"_id": "a", "title": "Only", "text": " "}',
            SourceDocument("a", "Only", "Only", uri="a"),
        ),
        (
            '{"_id": "a", "title": "Only", "text": null}',
            SourceDocument("a", "Only", "Only", uri="a"),
        ),
        (
            '{"_id": "a", "text": "x", "year": 2024, "ok": true, "who": "me", "no": null, "l": []}',
            SourceDocument("a", "x", uri="a", metadata={"year": "2024", "ok": "true", "who": "me"}),
        ),
    ],
)
def test_a_line_becomes_a_document(read: Read, line: str | bytes, expected: SourceDocument) -> None:
    assert read(line) == [expected]


def test_blank_lines_are_passed_over(read: Read) -> None:
    assert [item.id for item in read("", BEIR[0], "  \r", BEIR[1], "")] == ["d1", "d2"]


def test_other_field_names_can_be_set(read: Read) -> None:
    line = '{"id": "a", "head": "H", "body": "x"}'
    fields = {
        "id_field": "id",
        "title_field": "head",
        "text_field": "body",
        "media_type": "text/markdown",
    }
    assert read(line, **fields) == [SourceDocument("a", "x", "H", "text/markdown", "a")]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{broken", "not JSON"),
        (b'{"_id": "a", "text": "\xff"}', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1]", "a JSON object is wanted, not list"),
        ('{"text": "x"}', "no usable id in field '_id'"),
        ('{"_id": "", "text": "x"}', "no usable id"),
        ('{"_id": true, "text": "x"}', "no usable id"),
        ('{"_id": 1.5, "text": "x"}', "no usable id"),
        ('{"_id": "a"}', "no field 'text' in document 'a'"),
        ('{"_id": "a", "text": 3}', "field 'text' must be a string, not int"),
        ('{"_id": "a", "text": "x", "title": []}', "field 'title' must be a string, not list"),
        ('{"_id": "d1", "text": "x"}', "id 'd1' was already used on line 1"),
    ],
)
def test_a_line_that_is_no_document_is_named_by_file_and_line(
    read: Read, line: str | bytes, problem: str
) -> None:
    with pytest.raises(SourceError, match=rf"corpus\.jsonl:3: {problem}"):
        read(BEIR[0], "", line)


@pytest.mark.parametrize("field", ["_id", "text", "title", "more"])
def test_half_a_surrogate_pair_skips_the_document_only(read: Read, field: str) -> None:
    row = {"_id": "a", "text": "x", "title": "t", "more": "m"}
    line = json.dumps({**row, field: "x\ud83d"})
    skipped, kept = read(line, BEIR[1])
    assert isinstance(skipped, Skipped)
    assert (skipped.reason, skipped.bytes, len(skipped.digest)) == (
        "undecodable",
        len(line) + 1,
        64,
    )
    assert skipped.id.encode()
    assert kept.id == "d2"


def test_a_document_without_text_is_skipped(read: Read) -> None:
    (skipped,) = read('{"_id": "a", "text": "", "title": " "}')
    assert isinstance(skipped, Skipped)
    assert (skipped.id, skipped.reason) == ("a", "empty")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("no.jsonl", None),
        ("no.jsonl.gz", b"not gzip"),
        ("cut.jsonl.gz", gzip.compress(b"x" * 99, mtime=0)[:-12]),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SourceError, match=rf"cannot read .*{name}|{name}:1"):
        list(JsonlSource(path=path).read())


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot read"):
        list(JsonlSource(path=tmp_path).read())


def test_it_is_a_source() -> None:
    assert isinstance(JsonlSource(path="x"), Source)
