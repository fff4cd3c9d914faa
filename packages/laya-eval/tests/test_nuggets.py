"""Gold nuggets of a data folder, and how many of them a text says."""

from __future__ import annotations

import gzip
import json

import pytest
from laya_eval.errors import DataError
from laya_eval.nuggets import load_nuggets, nugget_files, said


def write(path, *rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)


def test_nuggets_of_our_own_have_one_wording_or_several(tmp_path):
    rows = [{"query": "q1", "nuggets": ["in 1820", ["red", "painted red"]]}]
    write(tmp_path / "nuggets.jsonl", *rows, {"query": "q2", "nuggets": []})
    assert load_nuggets(tmp_path) == {"q1": [("in 1820",), ("red", "painted red")]}
    assert [path.name for path in nugget_files(tmp_path)] == ["nuggets.jsonl"]


def test_answers_of_one_question_are_wordings_of_one_nugget(tmp_path):
    answers = [{"text": "1820", "start": 3}, {"text": "in 1820", "start": 0}, {"text": "1820"}]
    write(
        tmp_path / "pairs.jsonl.gz",
        {"query_id": "q1", "answers": answers},
        {"query_id": "q2", "answers": []},
        {"query_id": "q3"},
    )
    assert load_nuggets(tmp_path) == {"q1": [("1820", "in 1820")]}
    assert [path.name for path in nugget_files(tmp_path)] == ["pairs.jsonl.gz"]


def test_a_span_is_cut_from_the_full_text_of_its_document(tmp_path):
    write(tmp_path / "docs_full.jsonl", {"_id": "coast", "text": "The mill is red."})
    write(
        tmp_path / "queries.jsonl",
        {"_id": "q1", "text": "?", "type": "coast", "spans": [[4, 8], [12, 15]]},
        {"_id": "q2", "text": "?", "type": "coast"},
    )
    assert load_nuggets(tmp_path) == {"q1": [("mill",), ("red",)]}
    assert [path.name for path in nugget_files(tmp_path)] == ["docs_full.jsonl"]


def test_our_own_come_first(tmp_path):
    write(tmp_path / "nuggets.jsonl", {"query": "q", "nuggets": ["a"]})
    write(tmp_path / "pairs.jsonl", {"query_id": "q", "answers": [{"text": "b"}]})
    assert load_nuggets(tmp_path) == {"q": [("a",)]}


@pytest.mark.parametrize(
    ("name", "row", "words"),
    [
        ("nuggets.jsonl", {"query": "q"}, r"nuggets.jsonl:1: \{"),
        ("nuggets.jsonl", {"query": "q", "nuggets": [" "]}, "none of them blank"),
        ("nuggets.jsonl", {"query": "q", "nuggets": [[]]}, "none of them blank"),
        ("pairs.jsonl", {"query_id": "q", "answers": "red"}, "pairs.jsonl:1: answers is no list"),
        ("pairs.jsonl", {"answers": [{"text": "red"}]}, "answers without a query_id"),
        ("pairs.jsonl", {"query_id": "q", "answers": [{"start": 1}]}, "none of them blank"),
        ("pairs.jsonl", {"query_id": "q"}, "no gold nuggets"),
        ("queries.jsonl", {"_id": "q", "type": "d", "spans": [[0, 9]]}, "not within the full text"),
        ("queries.jsonl", {"_id": "q", "type": "x", "spans": [[0, 1]]}, "not within the full text"),
        ("queries.jsonl", {"_id": "q", "type": "d", "spans": [3]}, "not within the full text"),
    ],
)
def test_what_is_malformed_is_said_with_its_line(tmp_path, name, row, words):
    write(tmp_path / name, row)
    if name == "queries.jsonl":
        write(tmp_path / "docs_full.jsonl", {"_id": "d", "text": "short"})
    with pytest.raises(DataError, match=words):
        load_nuggets(tmp_path)


def test_a_folder_without_nuggets_is_refused(tmp_path):
    with pytest.raises(DataError, match="no gold nuggets"):
        load_nuggets(tmp_path)
    assert nugget_files(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It was built in\n 1820 and PAINTED red.", 2),
        ("It is red.", 1),
        ("It was built in 1802.", 0),
        ("", 0),
    ],
)
def test_case_and_white_space_do_not_matter_and_one_wording_is_enough(text, count):
    assert said([("in 1820",), ("painted red", "is red")], text) == count
