"""Bootstrap intervals."""

from __future__ import annotations

import numpy as np
import pytest
from laya_eval.bootstrap import bootstrap_interval, mean_interval
from laya_eval.errors import MeasureError

VALUES = np.random.default_rng(1).normal(size=80)


def mean(rows):
    return float(VALUES[rows].mean())


def test_the_same_seed_gives_the_same_interval():
    assert bootstrap_interval(mean, 80, seed=4) == bootstrap_interval(mean, 80, seed=4)
    assert bootstrap_interval(mean, 80, seed=4) != bootstrap_interval(mean, 80, seed=5)


def test_the_interval_of_a_mean_is_near_the_normal_one():
    interval = bootstrap_interval(mean, 80, resamples=4000)
    error = VALUES.std() / np.sqrt(80)
    assert interval.low == pytest.approx(VALUES.mean() - 1.96 * error, abs=0.04)
    assert interval.high == pytest.approx(VALUES.mean() + 1.96 * error, abs=0.04)


def test_a_measure_that_is_mostly_undefined_has_no_interval():
    def never(rows):
        raise MeasureError("one class only")

    assert bootstrap_interval(never, 5) is None


@pytest.mark.parametrize("wrong", [{"resamples": 0}, {"level": 1.0}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(MeasureError, match="bootstrap needs"):
        bootstrap_interval(mean, 80, **wrong)


@pytest.mark.slow
def test_scipy_agrees():
    stats = pytest.importorskip("scipy.stats", reason="needs the dependency group `oracles`")
    theirs = stats.bootstrap(
        (VALUES,), np.mean, n_resamples=20_000, method="percentile", random_state=0
    ).confidence_interval
    ours = bootstrap_interval(mean, 80, resamples=20_000)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_the_mean_has_the_interval_of_the_general_bootstrap():
    ours = mean_interval(VALUES, resamples=1200, seed=3)
    general = bootstrap_interval(mean, 80, resamples=1200, seed=3)
    assert (ours.low, ours.high) == pytest.approx((general.low, general.high))


@pytest.mark.parametrize("wrong", [[], [float("inf")], [[1.0]]])
def test_a_mean_of_nothing_is_refused(wrong):
    with pytest.raises(MeasureError, match="bootstrap"):
        mean_interval(wrong)
