"""ROC-AUC and accuracy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_eval.discrimination import accuracy, roc_auc
from laya_eval.errors import MeasureError

cases = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), st.booleans()), min_size=1
)


def by_pairs(scores, outcomes):
    """The definition: a positive against a negative case, ties half."""
    pairs = [
        1.0 if p > n else 0.5 if p == n else 0.0
        for p, yes in zip(scores, outcomes, strict=True)
        for n, no in zip(scores, outcomes, strict=True)
        if yes and not no
    ]
    return sum(pairs) / len(pairs)


@given(cases)
def test_the_area_is_the_share_of_pairs_in_order(rows):
    scores, outcomes = zip(*rows, strict=True)
    if len(set(outcomes)) < 2:
        with pytest.raises(MeasureError, match="positive and negative"):
            roc_auc(scores, outcomes)
    else:
        assert roc_auc(scores, outcomes) == pytest.approx(by_pairs(scores, outcomes))


@pytest.mark.parametrize(
    ("scores", "outcomes", "area"),
    [([0.1, 0.9], [0, 1], 1.0), ([0.9, 0.1], [0, 1], 0.0), ([0.5, 0.5, 0.5], [0, 1, 1], 0.5)],
)
def test_known_areas(scores, outcomes, area):
    assert roc_auc(scores, outcomes) == area


def test_a_score_at_the_threshold_counts_as_yes():
    assert accuracy([0.5, 0.49], [1, 0]) == 1.0
    assert accuracy([0.5, 0.49], [1, 0], threshold=0.6) == 0.5


@pytest.mark.parametrize(
    ("scores", "outcomes", "words"),
    [
        ([], [], "nothing to measure"),
        ([0.1], [0, 1], r"not \(1,\) and \(2,\)"),
        ([float("nan"), 0.1], [0, 1], "score 0 is not finite"),
        ([0.1, 0.2], [0, 2], "0 and 1"),
    ],
)
def test_what_has_no_measure_is_refused(scores, outcomes, words):
    with pytest.raises(MeasureError, match=words):
        accuracy(scores, outcomes)


@pytest.mark.slow
def test_the_area_is_the_mann_whitney_statistic_of_scipy():
    stats = pytest.importorskip("scipy.stats", reason="needs the dependency group `oracles`")
    generator = np.random.default_rng(3)
    for _ in range(50):
        scores = generator.integers(0, 30, 200) / 30
        outcomes = generator.integers(0, 2, 200)
        u = stats.mannwhitneyu(scores[outcomes == 1], scores[outcomes == 0]).statistic
        pairs = outcomes.sum() * (1 - outcomes).sum()
        assert roc_auc(scores, outcomes) == pytest.approx(u / pairs)
