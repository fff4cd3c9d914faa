"""Labelled pairs."""

from __future__ import annotations

import json

import pytest
from laya_eval.errors import DataError
from laya_eval.pairs import LabelledPair, load_pairs

GOOD = {"query": "q", "passage": "p", "relevant": True}


def write(folder, *rows):
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_pairs_with_and_without_the_rest(tmp_path):
    more = {**GOOD, "relevant": 0, "answerable": False, "group": 3, "other": []}
    assert load_pairs(write(tmp_path, GOOD, more)) == (
        LabelledPair("q", "p", True),
        LabelledPair("q", "p", False, False, "3"),
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"query": " "}, "`query` must be a text"),
        ({"passage": None}, "`passage` must be a text"),
        ({"relevant": "yes"}, "`relevant` must be true or false, not 'yes'"),
        ({"relevant": None}, "`relevant` must be true or false"),
        ({"answerable": 2}, "`answerable` must be true or false"),
        ({"group": ""}, "`group` must be a name"),
    ],
)
def test_a_pair_that_says_nothing_is_refused_with_its_line(tmp_path, change, words):
    with pytest.raises(DataError, match=rf"pairs.jsonl:2: {words}"):
        load_pairs(write(tmp_path, GOOD, {**GOOD, **change}))


def test_no_pairs_are_refused(tmp_path):
    with pytest.raises(DataError, match="no pairs"):
        load_pairs(write(tmp_path))
