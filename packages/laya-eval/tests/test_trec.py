"""TREC's files, in and out."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_eval.errors import DataError
from laya_eval.trec import evaluated_order, read_qrels, read_run, run_text, write_qrels, write_run

IDS = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=4)


@given(st.dictionaries(IDS, st.lists(IDS, min_size=1, max_size=8, unique=True), min_size=1))
def test_a_run_comes_back_as_it_was_written(tmp_path_factory, run):
    path = tmp_path_factory.mktemp("run") / "run.trec"
    write_run(path, run, tag="test")
    assert read_run(path) == run


def test_scores_are_strictly_decreasing_whole_numbers():
    lines = run_text({"q": ["b", "a", "c"]}, tag="t").splitlines()
    assert lines == ["q Q0 b 1 3 t", "q Q0 a 2 2 t", "q Q0 c 3 1 t"]


def test_a_run_of_others_is_read_in_the_order_that_evaluators_use(tmp_path):
    path = tmp_path / "run.trec.gz"
    with gzip.open(path, "wt") as file:
        file.write("q Q0 a 1 0.5 x\nq Q0 c 3 0.5 x\n\nq Q0 b 2 7e-1 x\n")
    assert read_run(path) == {"q": ["b", "c", "a"]}
    assert evaluated_order({"a": 1.0, "b": 1.0}) == ["b", "a"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q Q0 a 1 2\n", r"run:1: .*5 columns"),
        ("q Q0 a 1 2 t\nq Q0 b 2 nan t\n", "run:2: score 'nan'"),
        ("q Q0 a 1 high t\n", "run:1: score 'high'"),
        ("q Q0 a 1 2 t\nq Q0 a 2 1 t\n", "run:2: document 'a' stands twice"),
        ("\n", "run: it has no results"),
    ],
)
def test_a_run_that_cannot_be_read_is_refused_with_its_line(tmp_path, text, words):
    (tmp_path / "run").write_text(text)
    with pytest.raises(DataError, match=words):
        read_run(tmp_path / "run")


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        read_run(tmp_path / "none")
    (tmp_path / "run.gz").write_bytes(b"no gzip")
    with pytest.raises(DataError, match="cannot be read"):
        read_run(tmp_path / "run.gz")


@pytest.mark.parametrize("run", [{"q 1": ["a"]}, {"q": ["a b"]}, {"q": [""]}])
def test_an_id_that_a_column_cannot_hold_is_refused(run):
    with pytest.raises(DataError, match="white space or is empty"):
        run_text(run, tag="t")


def test_judgements_come_back_as_they_were_written(tmp_path):
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": -1}}
    write_qrels(tmp_path / "qrels", qrels)
    assert read_qrels(tmp_path / "qrels") == qrels


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q 0 a\n", "qrels:1: query, 0, document"),
        ("q 0 a 0.5\n", "qrels:1: .*whole grade"),
        ("q 0 a 1\nq 0 a 0\n", "qrels:2: document 'a' was already judged"),
        ("", "no judgements"),
    ],
)
def test_judgements_that_cannot_be_read_are_refused(tmp_path, text, words):
    (tmp_path / "qrels").write_text(text)
    with pytest.raises(DataError, match=words):
        read_qrels(tmp_path / "qrels")
