"""The sign-flip test."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_eval.errors import MeasureError
from laya_eval.permutation import EXACT_UP_TO, sign_flip_test

MANY = np.random.default_rng(3).normal(0.1, 0.5, size=120)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_few_differences_are_counted_exactly(values):
    observed = abs(sum(values))
    signs = itertools.product((1, -1), repeat=len(values))
    sums = [abs(sum(s * v for s, v in zip(row, values, strict=True))) for row in signs]
    found = sign_flip_test(values)
    assert found.exact
    assert found.p == pytest.approx(sum(s >= observed for s in sums) / len(sums))


def test_no_difference_at_all_is_certainly_chance():
    assert sign_flip_test([0.0, 0.0]).p == 1.0


def test_many_differences_are_sampled_with_a_seed():
    found = sign_flip_test(MANY, permutations=5000)
    assert not found.exact
    assert found == sign_flip_test(MANY, permutations=5000)
    assert found != sign_flip_test(MANY, permutations=5000, seed=1)
    assert found.p == pytest.approx(sign_flip_test(-MANY, permutations=5000).p)


def test_sampling_agrees_with_counting():
    values = MANY[: EXACT_UP_TO + 1]
    exact = sign_flip_test(values[:-1]).p
    sampled = sign_flip_test([*values[:-1], 1e-9], permutations=40_000)
    assert not sampled.exact
    assert sampled.p == pytest.approx(exact, abs=0.01)


def test_p_is_never_zero():
    assert sign_flip_test(np.ones(200), permutations=99).p == pytest.approx(1 / 100)


@pytest.mark.parametrize("wrong", [[], [float("nan")], [[1.0]]])
def test_what_cannot_be_tested_is_refused(wrong):
    with pytest.raises(MeasureError, match="sign-flip test"):
        sign_flip_test(wrong)
    with pytest.raises(MeasureError, match="at least one permutation"):
        sign_flip_test([1.0], permutations=0)


@pytest.mark.slow
@pytest.mark.parametrize("size", [9, 120])
def test_scipy_agrees(size):
    stats = pytest.importorskip("scipy.stats", reason="needs the dependency group `oracles`")
    values = MANY[:size]
    theirs = stats.permutation_test(
        (values,),
        lambda x, axis: np.mean(x, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf if size < EXACT_UP_TO else 40_000,
        rng=np.random.default_rng(1),
    )
    ours = sign_flip_test(values)
    tolerance = 1e-12 if ours.exact else 0.005
    assert ours.p == pytest.approx(theirs.pvalue, abs=tolerance)
