"""Fusion of probabilities in log-odds space."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval import Candidate, FusionError, LogOddsFuser, Sigmoid
from laya_retrieval.fuse.log_odds import estimated

finite = st.floats(-1e9, 1e9, allow_nan=False)


def test_fitted_legs_add_their_log_odds():
    fuser = LogOddsFuser(
        sigmoids={"bm25": {"slope": 1.0, "midpoint": 10.0}, "dense": {"slope": 2, "midpoint": 0.5}}
    )
    fused = fuser.fuse(
        [[Candidate("a", 12.0)], [Candidate("a", 0.25), Candidate("b", 0.25)]],
        names=["bm25", "dense"],
        weights=[1.0, 2.0],
    )
    by_id = {c.id: c.score for c in fused}
    assert by_id["a"] == pytest.approx(1 / (1 + math.exp(-(2.0 - 1.0))))
    assert by_id["b"] == pytest.approx(1 / (1 + math.exp(1.0)))


def test_fitted_scores_mean_the_same_for_every_query():
    fuser = LogOddsFuser(sigmoids={"bm25": {"slope": 1.0, "midpoint": 10.0}})
    alone = fuser.fuse([[Candidate("a", 12.0)]], names=["bm25"])[0].score
    crowd = fuser.fuse([[Candidate("z", 30.0), Candidate("a", 12.0)]], names=["bm25"])[1].score
    assert alone == crowd


def test_the_base_rate_is_what_nobody_contradicts():
    fuser = LogOddsFuser(base_rate=0.1, sigmoids={"x": {"slope": 1, "midpoint": 3}})
    assert fuser.fuse([[Candidate("a", 3.0)]], names=["x"])[0].score == pytest.approx(0.1)


@given(st.lists(finite, min_size=1, max_size=10), st.lists(finite, max_size=10))
def test_without_fits_being_found_is_never_worse_than_being_absent(first, second):
    one = [Candidate(f"a{i}", s) for i, s in enumerate(sorted(first, reverse=True))]
    two = [Candidate(f"a{i}", s) for i, s in enumerate(sorted(second, reverse=True))]
    alone = {c.id: c.score for c in LogOddsFuser().fuse([one])}
    both = {c.id: c.score for c in LogOddsFuser().fuse([one, two])}
    assert all(both[key] >= alone[key] for key in alone)
    assert all(0 < score < 1 for score in both.values())


def test_equal_scores_are_undecided():
    fused = LogOddsFuser().fuse([[Candidate("a", 7.0), Candidate("b", 7.0)]])
    assert [c.score for c in fused] == [0.5, 0.5]


def test_explain_is_in_log_odds():
    [only] = LogOddsFuser(explain=True).fuse([[Candidate("a", 2.0)]], names=["x"])
    assert only.metadata["fusion"][0].contribution == 0.0


def test_the_estimate_is_the_pools_floor_and_spread():
    sigmoid = estimated([1.0, 3.0])
    assert (sigmoid.midpoint, sigmoid.slope) == (1.0, 1.0)


def test_a_fit_recovers_the_sigmoid_that_made_the_labels():
    generator = np.random.default_rng(0)
    scores = generator.uniform(0, 20, 20_000)
    labels = generator.random(20_000) < 1 / (1 + np.exp(-0.7 * (scores - 12)))
    fitted = Sigmoid.fit(scores, labels)
    assert fitted.slope == pytest.approx(0.7, rel=0.05)
    assert fitted.midpoint == pytest.approx(12, abs=0.1)


def test_a_fit_of_separable_labels_ends():
    fitted = Sigmoid.fit([1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1])
    assert fitted.log_odds(1.0) < 0 < fitted.log_odds(4.0)


@pytest.mark.parametrize(
    ("scores", "labels"),
    [([1.0, 2.0], [1, 1]), ([1.0, 2.0], [1, 0]), ([1.0], [1, 0]), ([float("nan"), 1.0], [0, 1])],
)
def test_what_no_sigmoid_fits_is_refused(scores, labels):
    with pytest.raises(FusionError):
        Sigmoid.fit(scores, labels)
