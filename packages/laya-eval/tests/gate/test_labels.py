"""Labels from a file and from a folder."""

from __future__ import annotations

import gzip
import json
import re

import pytest
from laya_eval.errors import LabelsError
from laya_eval.gate.labels import load_labels

GOOD = '{"query": "a?", "answerable": true, "group": "x", "documents": ["d1"]}'


def test_a_file_of_json_lines(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text(GOOD + '\n\n{"id": "q", "query": "b?", "answerable": false, "group": 7}\n')
    one, two = load_labels(path).queries
    assert (one.id, one.query, one.answerable, one.group) == ("1", "a?", True, "x")
    assert one.documents == ("d1",)
    assert (two.id, two.answerable, two.group, two.documents) == ("q", False, "7", ())
    assert load_labels(path).groups == ["x", "7"]


def test_a_folder_in_the_beir_layout(tmp_path):
    rows = [
        {"_id": "q1", "text": "a?", "answerable": True},
        {"_id": "q2", "text": "b?", "answerable": False},
    ]
    with gzip.open(tmp_path / "queries.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    assert load_labels(tmp_path).queries[0].documents == ()
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n")
    labels = load_labels(tmp_path)
    assert [query.documents for query in labels.queries] == [("d1",), ()]
    assert labels.groups is None
    assert labels.answerable == 1


def test_the_fingerprint_is_of_what_the_labels_say(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text(GOOD)
    before = load_labels(path).fingerprint
    path.write_text(GOOD + "\n\n")
    assert load_labels(path).fingerprint == before
    path.write_text(GOOD.replace("true", "false"))
    assert load_labels(path).fingerprint != before


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense", "no JSON"),
        ("[1]", "a JSON object is wanted, not list"),
        ('{"answerable": true}', "`query` must be a text"),
        ('{"query": " ", "answerable": true}', "`query` must be a text"),
        ('{"query": "a?"}', "must be true or false, not None"),
        ('{"query": "a?", "answerable": 1}', "must be true or false, not 1"),
        ('{"query": "a?", "answerable": true, "group": []}', "`group` must be a name"),
        ('{"query": "a?", "answerable": true, "documents": "d"}', "must be a list of ids"),
        ('{"id": 1, "query": "a?", "answerable": true, "group": "x"}', "was already used at"),
        ('{"query": "a?", "answerable": true}', "it has no group, and those before it have one"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, words):
    path = tmp_path / "labels.jsonl"
    path.write_text(f"{GOOD}\n{line}\n")
    with pytest.raises(LabelsError, match=re.escape(words)) as caught:
        load_labels(path)
    assert str(caught.value).startswith(f"{path}:2: ")


def test_a_missing_file_and_an_empty_one_are_named(tmp_path):
    with pytest.raises(LabelsError, match="cannot be read"):
        load_labels(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(LabelsError, match=r"empty\.jsonl: it has no labels"):
        load_labels(tmp_path / "empty.jsonl")
    with pytest.raises(LabelsError, match="no queries"):
        load_labels(tmp_path)


def test_a_bad_qrels_line_is_named(tmp_path):
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "a?", "answerable": true}\n')
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\n")
    with pytest.raises(LabelsError, match=r"qrels\.tsv:2"):
        load_labels(tmp_path)
