"""Sparse vectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_signals import EncodeError
from laya_signals.sparse import SparseVector

mappings = st.dictionaries(st.integers(0, 20), st.floats(-3, 3, width=32), max_size=8)


@given(mappings)
def test_a_mapping_comes_back_without_its_zeros(weights):
    vector = SparseVector.from_mapping(weights)
    assert vector.to_mapping() == {i: w for i, w in weights.items() if w != 0}
    assert (np.diff(vector.indices) > 0).all()


@given(mappings, mappings)
def test_the_dot_product_is_the_sum_over_shared_indices(one, two):
    expected = sum(w * two.get(i, 0.0) for i, w in one.items())
    dot = SparseVector.from_mapping(one).dot(SparseVector.from_mapping(two))
    assert dot == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("indices", "values"),
    [
        ([2, 1], [1.0, 1.0]),
        ([1, 1], [1.0, 1.0]),
        ([-1], [1.0]),
        ([1], [0.0]),
        ([1], [float("nan")]),
        ([1, 2], [1.0]),
        ([[1]], [[1.0]]),
    ],
)
def test_what_is_no_sparse_vector_is_refused(indices, values):
    with pytest.raises(EncodeError):
        SparseVector.from_arrays(indices, values)


def test_it_cannot_be_changed():
    vector = SparseVector.from_arrays([1], [2.0])
    with pytest.raises(ValueError, match="read-only"):
        vector.values[0] = 3.0
    assert vector == SparseVector.from_mapping({1: 2.0})
    assert hash(vector) == hash(SparseVector.from_mapping({1: 2.0}))
