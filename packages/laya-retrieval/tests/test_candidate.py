"""A candidate."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval import Candidate, CandidateError, ranked


def test_it_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Candidate("a", 1.0).score = 2.0


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf"), None, "1"])
def test_a_score_that_is_not_finite_is_refused_by_name(score):
    with pytest.raises(CandidateError, match="'doc-7'"):
        Candidate("doc-7", score)


@pytest.mark.parametrize("score", [float("nan"), float("-inf"), None, "1"])
def test_a_copy_checks_its_score_too(score):
    with pytest.raises(CandidateError, match="'doc-7'"):
        Candidate("doc-7", 1.0).with_score(score)


@pytest.mark.parametrize("key", ["", None, 3])
def test_an_id_is_a_non_empty_text(key):
    with pytest.raises(CandidateError):
        Candidate(key, 1.0)


def test_metadata_defaults_to_nothing_that_can_be_changed():
    with pytest.raises(TypeError):
        Candidate("a", 1.0).metadata["x"] = 1


def test_copies_leave_the_original_alone():
    original = Candidate("a", 1.0, "text", {"x": 1})
    assert original.with_score(2.0) == Candidate("a", 2.0, "text", {"x": 1})
    assert original.with_metadata(x=2, y=3).metadata == {"x": 2, "y": 3}
    assert original == Candidate("a", 1.0, "text", {"x": 1})


@given(
    st.permutations([Candidate(i, s) for i, s in zip("abcd", (1.0, 2.0, 2.0, 0.0), strict=True)])
)
def test_ranked_is_a_total_order(candidates):
    assert [c.id for c in ranked(candidates)] == ["b", "c", "a", "d"]
