"""Similarity of texts by three-word shingles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval.process.redundancy import shingle_similarity


def similar(left, right):
    return shingle_similarity([left, right])[0, 1]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("revenue grew by a tenth", "Revenue  grew, by a TENTH!", 1.0),  # a copy in other dress
        ("revenue grew by a tenth", "they say revenue grew by a tenth in all", 1.0),  # an excerpt
        ("one two three four", "one two three five", 0.5),
        ("doc 0 about revenue", "doc 1 about revenue", 0.0),  # one subject, no three words
        ("tax", "tax", 1.0),
        ("tax", "tax fell again", 0.0),
        ("收入增长", "总收入增长了", 1.0),
        ("", "", 0.0),
        ("!?", "!?", 0.0),
    ],
)
def test_the_shared_part_of_the_smaller_text(left, right, expected):
    assert similar(left, right) == expected


def test_no_texts_give_an_empty_matrix():
    assert shingle_similarity([]).shape == (0, 0)


WORDS = st.lists(st.sampled_from("abcde"), max_size=9).map(" ".join)


@given(st.lists(WORDS, max_size=6))
def test_it_equals_the_formula_over_sets(texts):
    matrix = shingle_similarity(texts)
    sets = []
    for text in texts:
        terms = text.split()
        sets.append({tuple(terms[i : i + 3]) for i in range(max(1, len(terms) - 2))} - {()})
    for i, one in enumerate(sets):
        for j, other in enumerate(sets):
            smaller = min(len(one), len(other))
            expected = len(one & other) / smaller if smaller and i != j else 0.0
            assert matrix[i, j] == pytest.approx(expected)
    assert (matrix == matrix.T).all()
    assert np.diag(matrix).sum() == 0
