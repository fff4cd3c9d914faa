"""Weighted sum of normalised scores."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval import Candidate, FusionError, WeightedFuser
from laya_retrieval.fuse.weighted import minmax, theoretical, zscore
from laya_signals import ConfigError

DENSE = [Candidate("a", 0.91), Candidate("b", 0.83), Candidate("c", 0.55)]
BM25 = [Candidate("c", 12.4), Candidate("a", 9.1), Candidate("d", 2.0)]
score_lists = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=10)


def test_the_specified_example():
    fused = WeightedFuser().fuse([DENSE, BM25], weights=[2.0, 1.0])
    assert [(c.id, round(c.score, 4)) for c in fused] == [
        ("a", 2.6827),
        ("b", 1.5556),
        ("c", 1.0),
        ("d", 0.0),
    ]


def test_a_list_of_equal_scores_normalises_to_one():
    fused = WeightedFuser().fuse([[Candidate("a", 0.3), Candidate("b", 0.3)]])
    assert [c.score for c in fused] == [1.0, 1.0]


def test_zscore_is_the_distance_from_the_mean_in_deviations():
    assert zscore([1.0, 2.0, 3.0]) == pytest.approx([-1.224745, 0.0, 1.224745])
    assert zscore([5.0, 5.0]) == [0.0, 0.0]


def test_theoretical_keeps_how_far_above_the_floor_a_list_lies():
    fused = WeightedFuser(normalize="theoretical").fuse([DENSE, BM25], names=["dense", "bm25"])
    by_id = {c.id: c.score for c in fused}
    assert by_id["a"] == pytest.approx(1.0 + 9.1 / 12.4)
    assert by_id["b"] == pytest.approx(1.83 / 1.91)


def test_theoretical_knows_named_dense_legs():
    fused = WeightedFuser(normalize="theoretical").fuse([DENSE], names=["dense:bge"])
    assert fused[0].score == 1.0


def test_theoretical_without_a_floor_is_refused():
    with pytest.raises(FusionError, match="lowest possible score of leg 'colbert'"):
        WeightedFuser(normalize="theoretical").fuse([DENSE], names=["colbert"])


def test_a_score_below_its_floor_is_refused():
    with pytest.raises(FusionError, match="below its floor"):
        theoretical([-0.1, 2.0], 0.0)


def test_a_list_on_its_floor_is_worth_nothing():
    assert theoretical([0.0, 0.0], 0.0) == [0.0, 0.0]


def test_a_floor_that_is_not_finite_is_refused():
    with pytest.raises(ConfigError, match="not finite"):
        WeightedFuser(floors={"bm25": float("nan")})


def test_explain_adds_up_to_the_score():
    fuser = WeightedFuser(explain=True)
    for candidate in fuser.fuse([DENSE, BM25], weights=[2.0, 1.0], names=["dense", "bm25"]):
        parts = candidate.metadata["fusion"]
        assert math.fsum(part.contribution for part in parts) == pytest.approx(candidate.score)
        assert [part.rank for part in parts if part.leg == "bm25"] in ([], [1], [2], [3])


def test_an_id_twice_in_one_list_counts_once_at_its_best_place():
    doubled = [Candidate("a", 3.0), Candidate("b", 2.0), Candidate("a", 1.0)]
    assert {c.id: c.score for c in WeightedFuser().fuse([doubled])} == {"a": 1.0, "b": 0.0}


@given(score_lists)
def test_minmax_stays_in_zero_to_one_and_keeps_the_order(scores):
    normalised = minmax(scores)
    assert all(0 <= value <= 1 for value in normalised)
    pairs = sorted(zip(scores, normalised, strict=True))
    assert all(a[1] <= b[1] for a, b in itertools.pairwise(pairs))


@given(score_lists)
def test_zscore_is_always_finite_and_centred(scores):
    normalised = zscore(scores)
    assert all(math.isfinite(value) for value in normalised)
    assert sum(normalised) == pytest.approx(0.0, abs=1e-6)
