"""Results so far."""

from __future__ import annotations

import pytest
from laya_eval.retrieval.checkpoint import Checkpoint, Retrieved

ONE = Retrieved({"bm25": ["a", "ü"]}, {"bm25": {"a": 1}})
TWO = Retrieved({"bm25": []}, {})


def write(folder, key="k"):
    checkpoint = Checkpoint(folder, key, Retrieved)
    with checkpoint.adding() as add:
        add("q1", ONE)
        add("q2", TWO)
    return checkpoint


def test_what_was_added_is_there_for_the_same_key_only(tmp_path):
    write(tmp_path)
    assert Checkpoint(tmp_path, "k", Retrieved).load() == {"q1": ONE, "q2": TWO}
    assert Checkpoint(tmp_path, "other", Retrieved).load() == {}


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_line_that_was_cut_short_is_dropped_and_can_be_written_again(tmp_path, cut):
    checkpoint = write(tmp_path)
    whole = checkpoint.path.read_bytes()
    checkpoint.path.write_bytes(whole[:-cut])
    assert checkpoint.load() == {"q1": ONE}
    with checkpoint.adding() as add:
        add("q2", TWO)
    assert checkpoint.path.read_bytes() == whole


def test_a_damaged_line_ends_what_is_read(tmp_path):
    checkpoint = write(tmp_path)
    lines = checkpoint.path.read_text().splitlines(keepends=True)
    checkpoint.path.write_text(lines[0] + '{"query": "q3"}\n' + lines[1])
    assert checkpoint.load() == {"q1": ONE}
    assert checkpoint.path.read_text() == lines[0]


def test_discarding_deletes_the_file(tmp_path):
    checkpoint = write(tmp_path)
    checkpoint.discard()
    checkpoint.discard()
    assert list(tmp_path.iterdir()) == []


def test_only_what_is_missing_is_computed(tmp_path):
    checkpoint = write(tmp_path)
    asked = []

    def compute(query):
        asked.append(query)
        return Retrieved({"bm25": [query]}, {})

    found = checkpoint.complete(["q3", "q2"], compute)
    assert asked == ["q3"]
    assert list(found.items()) == [("q3", Retrieved({"bm25": ["q3"]}, {})), ("q2", TWO)]
    assert set(checkpoint.load()) == {"q1", "q2", "q3"}
