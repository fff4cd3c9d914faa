"""Deduplication."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval import Candidate, Deduplicator, ProcessorError


def ids(candidates):
    return [c.id for c in candidates]


def test_equal_text_after_folding_white_space_is_the_same():
    pool = [
        Candidate("a", 1.0, "one  two\n"),
        Candidate("b", 2.0, " one two"),
        Candidate("c", 0.0, "x"),
    ]
    kept = Deduplicator().process("q", pool)
    assert ids(kept) == ["a", "c"]
    assert kept[0].metadata["duplicates"] == ("b",)
    assert "duplicates" not in kept[1].metadata


def test_letter_case_makes_a_difference():
    assert (
        len(Deduplicator().process("q", [Candidate("a", 1.0, "US"), Candidate("b", 1.0, "us")]))
        == 2
    )


def test_close_vectors_are_the_same():
    pool = [
        Candidate("a", 1.0, "x", {"embedding": [1.0, 0.0]}),
        Candidate("b", 1.0, "y", {"embedding": [2.0, 0.1]}),
        Candidate("c", 1.0, "z", {"embedding": [0.0, 1.0]}),
        Candidate("d", 1.0, "w"),
    ]
    assert ids(Deduplicator().process("q", pool)) == ["a", "c", "d"]
    assert ids(Deduplicator(threshold=None).process("q", pool)) == ["a", "b", "c", "d"]


def test_a_threshold_of_one_still_finds_equal_vectors():
    vector = np.random.default_rng(1).normal(size=384)
    pool = [Candidate(k, 1.0, k, {"embedding": vector * f}) for k, f in (("a", 1.0), ("b", 3.7))]
    assert ids(Deduplicator(threshold=1.0).process("q", pool)) == ["a"]


def test_similar_shingles_are_the_same_where_asked_for():
    pool = [
        Candidate("a", 1.0, "the quick brown fox jumps over the lazy dog"),
        Candidate("b", 1.0, "the quick brown fox jumps over the lazy cat"),
    ]
    assert ids(Deduplicator(jaccard=0.7).process("q", pool)) == ["a"]
    assert ids(Deduplicator().process("q", pool)) == ["a", "b"]


@pytest.mark.parametrize(
    "vector", [[0.0, 0.0], [1.0, float("nan")], [[1.0]], ["x"], [1.0, 2.0, 3.0]]
)
def test_a_vector_that_cannot_be_compared_is_an_error_that_names_the_candidate(vector):
    pool = [
        Candidate("a", 1.0, "x", {"embedding": [1.0, 0.0]}),
        Candidate("bad", 1.0, "y", {"embedding": vector}),
    ]
    with pytest.raises(ProcessorError, match="'bad'"):
        Deduplicator().process("q", pool)


def test_candidates_without_text_are_not_duplicates_of_each_other():
    assert len(Deduplicator().process("q", [Candidate("a", 1.0), Candidate("b", 1.0)])) == 2


texts = st.lists(st.sampled_from("a b".split()), max_size=5).map(" ".join)


@given(st.lists(texts, max_size=8))
def test_doing_it_twice_changes_nothing(pool):
    candidates = [Candidate(f"c{i}", 1.0, text) for i, text in enumerate(pool)]
    once = Deduplicator(jaccard=0.6, shingle=1).process("q", candidates)
    assert Deduplicator(jaccard=0.6, shingle=1).process("q", once) == once
    assert ids(once) == [c.id for c in candidates if c.id in set(ids(once))]
