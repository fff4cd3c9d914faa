"""Training texts in test data."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_eval.errors import DataError, MeasureError
from laya_eval.leakage import Entry, Overlap, find_leakage, read_entries
from laya_rag.cli.app import app
from typer.testing import CliRunner

LONG = "the ferry leaves the harbour at high water and takes two hours to the island of Westeroog"
WORDS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=14).map(" ".join)


def entries(*texts, document=None):
    return [Entry(f"f:{n}", text, document) for n, text in enumerate(texts, 1)]


def test_an_equal_text_leaks_however_it_is_written():
    found = find_leakage(entries("other", LONG), entries(f"«{LONG.upper()}»!\n"))
    assert found.overlaps == (Overlap("f:1", "f:2", "text", 1.0),)
    assert found.by_kind == {"document": 0, "text": 1, "near-duplicate": 0}


def test_a_text_with_a_word_more_is_nearly_the_same_and_another_one_is_not():
    found = find_leakage(entries(LONG), entries(LONG + " daily", "the harbour of Westeroog"))
    [overlap] = found.overlaps
    assert (overlap.test, overlap.kind) == ("f:1", "near-duplicate")
    assert overlap.jaccard == pytest.approx(13 / 14)
    assert not find_leakage(entries(LONG), entries(LONG + " daily"), jaccard=0.95).overlaps


def test_another_part_of_the_same_document_leaks_where_documents_are_named():
    train, test = entries("one part", document="d"), entries("quite another", document="d")
    assert find_leakage(train, test).overlaps == (Overlap("f:1", "f:1", "document", 0.0),)
    assert not find_leakage(train, entries("quite another", document="e")).overlaps
    assert not find_leakage(entries("one part"), entries("quite another")).overlaps


def shingles(text, size):
    words = text.split()
    return {tuple(words[i : i + size]) for i in range(max(1, len(words) - size + 1))}


@given(st.lists(WORDS, min_size=1, max_size=6), WORDS, st.sampled_from([0.3, 0.5, 0.8]))
def test_no_pair_above_the_threshold_is_missed(train, text, threshold):
    likeness = [
        len(shingles(text, 3) & shingles(t, 3)) / len(shingles(text, 3) | shingles(t, 3))
        for t in train
    ]
    found = find_leakage(entries(*train), entries(text), jaccard=threshold, shingle=3).overlaps
    assert bool(found) == (max(likeness) >= threshold)
    if found:
        assert found[0].jaccard == pytest.approx(max(likeness))


def test_nothing_leaks_from_or_into_texts_without_words():
    assert not find_leakage(entries("", "…"), entries("!", "")).overlaps


@pytest.mark.parametrize("wrong", [{"jaccard": 0}, {"jaccard": 1.1}, {"shingle": 0}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(MeasureError, match="leakage needs"):
        find_leakage(entries("a"), entries("b"), **wrong)


def test_files_without_the_field_are_refused_with_their_line(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text('{"passage": "a", "group": 3}\n{"text": "b"}\n')
    with pytest.raises(DataError, match=r"train.jsonl:2: no text in field 'passage'"):
        read_entries(path, text="passage")
    path.write_text("\n")
    with pytest.raises(DataError, match="no lines"):
        read_entries(path, text="passage")


def test_the_command_fails_when_something_leaked(tmp_path):
    for name, texts in (("train", [LONG, "one"]), ("clean", ["two"]), ("test", ["two", LONG])):
        rows = "".join(json.dumps({"text": text, "group": name}) + "\n" for text in texts)
        (tmp_path / f"{name}.jsonl").write_text(rows)
    run = CliRunner().invoke

    def leakage(name, *options):
        files = [str(tmp_path / "train.jsonl"), str(tmp_path / f"{name}.jsonl")]
        return run(app, ["eval", "leakage", *files, *options], env={"COLUMNS": "200"})

    assert leakage("clean", "--document", "group").exit_code == 0
    done = leakage("test")
    assert done.exit_code == 1
    assert "test.jsonl:2: text of" in done.stdout
    assert "1 of 2 test texts leaked from 2: 0 by document, 1 by text" in done.stdout
    assert json.loads(leakage("test", "--json").stdout)["by_kind"]["text"] == 1
