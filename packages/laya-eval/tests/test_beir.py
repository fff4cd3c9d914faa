"""Data sets in the layout of the BEIR benchmarks."""

from __future__ import annotations

import gzip
import hashlib
import json

import pytest
from laya_eval.beir import corpus_file, data_hashes, load_judged
from laya_eval.errors import DataError

HEADER = "query-id\tcorpus-id\tscore\n"


def write(folder, queries=({"_id": "1", "text": "one"},), qrels=HEADER + "1\ta\t1\n"):
    text = "".join(json.dumps(query) + "\n" for query in queries)
    (folder / "queries.jsonl").write_text(text)
    (folder / "qrels.tsv").write_text(qrels)
    return folder


def test_only_judged_queries_are_kept_in_the_order_of_their_judgements(tmp_path):
    queries = [{"_id": name, "text": name} for name in ("x", "y", "z")]
    judged = load_judged(write(tmp_path, queries, HEADER + "z\ta\t0\nx\ta\t2\nz\tb\t0\n"))
    assert list(judged.queries) == ["z", "x"]
    assert judged.qrels == {"z": {"a": 0, "b": 0}, "x": {"a": 2}}
    assert judged.without_relevant == ["z"]


@pytest.mark.parametrize(
    ("split", "name"), [("test", "qrels/test.tsv"), ("train", "qrels_train.tsv")]
)
def test_a_split_has_its_own_judgements(tmp_path, split, name):
    write(tmp_path)
    (tmp_path / "qrels.tsv").unlink()
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("1\tb\t1\n")
    assert load_judged(tmp_path, split=split).qrels == {"1": {"b": 1}}
    with pytest.raises(DataError, match=r"no qrels_dev\.tsv or qrels/dev\.tsv"):
        load_judged(tmp_path, split="dev")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"qrels": HEADER + "1\ta\n"}, r"qrels.tsv:2: query id"),
        ({"qrels": HEADER + "1\ta\t0.5\n"}, r"qrels.tsv:2: query id"),
        ({"qrels": HEADER + "1\ta\t1\n1\ta\t0\n"}, r"qrels.tsv:3: document 'a' was already judged"),
        ({"qrels": HEADER}, "no judgements"),
        ({"qrels": "2\ta\t1\n"}, "query '2' is judged but has no text"),
        ({"queries": [{"_id": "1"}]}, r"queries.jsonl:1: no JSON object with _id and text"),
        ({"queries": [{"_id": "1", "text": "a"}] * 2}, r"queries.jsonl:2: query '1' was already"),
        ({"queries": [[]]}, r"queries.jsonl:1: a JSON object is wanted, not list"),
    ],
)
def test_data_that_cannot_be_used_is_refused_with_file_and_line(tmp_path, change, words):
    with pytest.raises(DataError, match=words):
        load_judged(write(tmp_path, **change))


def test_the_hashes_are_those_of_the_files_that_are_read(tmp_path):
    write(tmp_path)
    assert set(data_hashes(tmp_path)) == {"qrels.tsv", "queries.jsonl"}
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt") as file:
        file.write("{}")
    (tmp_path / "notes.txt").write_text("not read")
    hashes = data_hashes(tmp_path)
    assert set(hashes) == {"qrels.tsv", "queries.jsonl", "corpus.jsonl.gz"}
    raw = (tmp_path / "qrels.tsv").read_bytes()
    assert hashes["qrels.tsv"] == hashlib.sha256(raw).hexdigest()
    assert corpus_file(tmp_path).name == "corpus.jsonl.gz"
