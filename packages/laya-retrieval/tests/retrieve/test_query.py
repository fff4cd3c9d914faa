"""A query and its signals."""

import numpy as np
import pytest
from laya_retrieval import Capability, FilterError, OrchestrationError, QueryBundle, parse_filter
from laya_signals.sparse import SparseVector

ALL = frozenset(Capability)


def test_legs_are_the_signals_the_backend_serves():
    query = QueryBundle(
        text="tax",
        vector=[1.0, 0.0],
        vectors={"bge": [1.0]},
        sparse_terms={3: 1.5},
        multivector=[[1.0, 0.0]],
    )
    assert query.legs(ALL) == ("bm25", "dense", "dense:bge", "sparse", "multivector")
    assert query.legs({Capability.BM25}) == ("bm25",)


def test_an_absent_signal_is_no_leg():
    query = QueryBundle(text="  ", sparse_terms={}, multivector=np.zeros((0, 4)))
    assert query.legs(ALL) == ()


def test_modes_narrow_the_legs():
    query = QueryBundle(text="tax", vector=[1.0], modes=["dense", "sparse"])
    assert query.legs(ALL) == ("dense",)


def test_signals_are_normalised_copies():
    vector = np.array([1.0, 2.0])
    query = QueryBundle(vector=vector, sparse_terms={5: 1, 2: 2}, filters={"a": 1})
    vector[0] = 9.0
    assert query.vector.tolist() == [1.0, 2.0]
    assert query.vector.dtype == np.float32
    assert query.sparse_terms == SparseVector([2, 5], [2.0, 1.0])
    assert query.filters == parse_filter({"a": 1})
    with pytest.raises(ValueError, match="read-only"):
        query.vector[0] = 1.0


@pytest.mark.parametrize(
    "signals",
    [
        {"vector": [[1.0]]},
        {"vector": [float("nan")]},
        {"vector": ["x"]},
        {"vectors": {"a": 1.0}},
        {"multivector": [1.0]},
        {"depth": 0},
        {"modes": ["bm26"]},
        {"modes": ["bm25:x"]},
    ],
)
def test_a_malformed_signal_is_refused(signals):
    with pytest.raises(OrchestrationError):
        QueryBundle(text="x", **signals)


def test_a_malformed_filter_is_refused():
    with pytest.raises(FilterError):
        QueryBundle(filters={"a": {"like": "x"}})


def test_deeper_changes_the_depth_alone():
    query = QueryBundle(text="x", vector=[1.0], filters={"a": 1}, depth=5)
    deeper = query.deeper(20)
    assert (deeper.depth, deeper.text, deeper.filters) == (20, "x", query.filters)
