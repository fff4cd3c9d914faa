"""Risk and coverage."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_eval.errors import MeasureError
from laya_eval.risk import (
    answered_shares,
    aurc,
    best_aurc,
    coverage_at_risk,
    risk_at_coverage,
    risk_coverage,
)

LEVELS = st.sampled_from([0.1, 0.5, 0.9])
cases = st.lists(st.tuples(LEVELS, st.booleans()), min_size=1, max_size=6)


def by_orders(confidence, loss):
    """The mean over every order that respects confidence."""
    areas = []
    for order in permutations(range(len(loss))):
        if all(confidence[a] >= confidence[b] for a, b in pairwise(order)):
            lost = [loss[i] for i in order]
            areas.append(sum(sum(lost[:k]) / k for k in range(1, len(lost) + 1)) / len(lost))
    return sum(areas) / len(areas)


@given(cases)
def test_the_area_is_the_mean_over_the_orders_of_ties(rows):
    confidence, loss = zip(*rows, strict=True)
    assert aurc(confidence, loss) == pytest.approx(by_orders(confidence, loss))


@given(cases)
def test_the_order_of_the_cases_does_not_matter(rows):
    confidence, loss = zip(*rows, strict=True)
    backwards = aurc(confidence[::-1], loss[::-1])
    assert aurc(confidence, loss) == pytest.approx(backwards)


@given(cases)
def test_no_confidence_beats_the_best(rows):
    confidence, loss = zip(*rows, strict=True)
    assert best_aurc(loss) <= aurc(confidence, loss) + 1e-12


def test_a_confidence_without_information_has_the_mean_loss():
    assert aurc([0.5] * 4, [1, 0, 0, 0]) == pytest.approx(0.25)


def test_the_curve_has_a_point_for_every_distinct_confidence():
    curve = risk_coverage([0.9, 0.9, 0.5, 0.1], [0, 1, 0, 1])
    assert curve.confidence.tolist() == [0.9, 0.5, 0.1]
    assert curve.coverage.tolist() == [0.5, 0.75, 1.0]
    assert curve.risk.tolist() == pytest.approx([1 / 2, 1 / 3, 1 / 2])


def test_coverage_at_a_risk_cannot_split_ties():
    confidence, loss = [0.9, 0.9, 0.5, 0.1], [0, 1, 0, 1]
    assert coverage_at_risk(confidence, loss, risk=0.4) == 0.75
    assert coverage_at_risk(confidence, loss, risk=0.5) == 1.0
    assert coverage_at_risk(confidence, loss, risk=0.3) == 0.0


@given(cases, st.floats(0.01, 1))
def test_equally_sure_cases_are_answered_in_random_order(asked, coverage):
    confidence, loss = zip(*asked, strict=True)
    answered = max(1, round(coverage * len(asked)))
    risks = []
    for order in permutations(range(len(asked))):
        best = sorted(order, key=lambda at: -confidence[at])[:answered]
        risks.append(sum(loss[at] for at in best) / answered)
    found = risk_at_coverage(confidence, np.array(loss, dtype=float), coverage=coverage)
    assert found == pytest.approx(np.mean(risks))
    assert answered_shares(confidence, coverage=coverage).sum() == pytest.approx(answered)


@pytest.mark.parametrize("coverage", [0, -0.1, 1.1])
def test_a_coverage_that_is_none_is_refused(coverage):
    with pytest.raises(MeasureError, match="coverage"):
        answered_shares([0.5], coverage=coverage)
