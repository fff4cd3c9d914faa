"""Brier score, calibration bins and ECE."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_eval.calibration import brier, calibration_bins, expected_calibration_error
from laya_eval.errors import MeasureError

cases = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1)


def by_definition(probabilities, outcomes, bins):
    """Guo et al.'s reference loop over right-closed bins; the first one takes 0 too."""
    p, y = np.array(probabilities), np.array(outcomes, dtype=float)
    edges = np.linspace(0, 1, bins + 1)
    error = 0.0
    for i, (low, high) in enumerate(pairwise(edges)):
        inside = (p > low) & (p <= high) | ((p == 0) if i == 0 else False)
        if inside.any():
            error += abs(p[inside].mean() - y[inside].mean()) * inside.mean()
    return error


@given(cases, st.integers(1, 20))
def test_ece_is_the_reference_loop(rows, bins):
    probabilities, outcomes = zip(*rows, strict=True)
    assert expected_calibration_error(probabilities, outcomes, bins=bins) == pytest.approx(
        by_definition(probabilities, outcomes, bins), abs=1e-9
    )


def test_a_hand_worked_example():
    p, y = [0.1, 0.3, 0.3, 0.9], [0, 0, 1, 1]
    assert expected_calibration_error(p, y, bins=2) == pytest.approx(
        3 / 4 * abs(0.7 / 3 - 1 / 3) + 1 / 4 * 0.1
    )
    assert brier(p, y) == pytest.approx((0.01 + 0.09 + 0.49 + 0.01) / 4)


@given(cases)
def test_every_case_is_in_one_bin(rows):
    probabilities, outcomes = zip(*rows, strict=True)
    bins = calibration_bins(probabilities, outcomes)
    assert len(bins) == 15
    assert sum(b.count for b in bins) == len(rows)
    assert (bins[0].low, bins[-1].high) == (0, 1)
    for b in bins:
        assert (b.count == 0) == (b.mean_probability is None) == (b.positive_share is None)
        if b.mean_probability is not None:
            assert b.low - 1e-9 <= b.mean_probability <= b.high + 1e-9


def test_probabilities_that_mean_what_they_say_have_a_small_error():
    generator = np.random.default_rng(0)
    p = generator.random(20_000)
    y = generator.random(20_000) < p
    assert expected_calibration_error(p, y) < 0.02
    assert expected_calibration_error(p**3, y) > 0.2


@pytest.mark.parametrize("p", [-0.1, 1.1])
def test_what_is_no_probability_is_refused(p):
    with pytest.raises(MeasureError, match="between 0 and 1"):
        brier([p], [1])
    with pytest.raises(MeasureError, match="bin"):
        calibration_bins([0.5], [1], bins=0)
