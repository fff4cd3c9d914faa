"""Benjamini and Hochberg's adjustment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_eval.errors import MeasureError
from laya_eval.false_discovery import benjamini_hochberg

P = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_the_example_of_the_paper():
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240]
    p += [0.4262, 0.5719, 0.6528, 0.7590, 1.0000]
    assert sum(q <= 0.05 for q in benjamini_hochberg(p)) == 4


@given(P)
def test_adjusting_never_makes_smaller_and_keeps_the_order(p):
    q = benjamini_hochberg(p)
    assert all(a >= b - 1e-15 for a, b in zip(q, p, strict=True))
    assert max(q) <= 1
    order = sorted(range(len(p)), key=p.__getitem__)
    assert [q[i] for i in order] == sorted(q)


@given(P, st.floats(0.001, 0.5))
def test_it_rejects_what_the_step_up_procedure_rejects(p, alpha):
    ranked = sorted(p)
    last = max((k for k, v in enumerate(ranked, 1) if v <= alpha * k / len(p)), default=0)
    q = benjamini_hochberg(p)
    near = any(abs(value - alpha) < 1e-12 for value in q)
    assert near or sum(value <= alpha for value in q) == last


def test_no_tests_and_no_probabilities():
    assert benjamini_hochberg([]) == []
    with pytest.raises(MeasureError, match="between 0 and 1"):
        benjamini_hochberg([0.5, 1.5])


@pytest.mark.slow
@given(P)
def test_scipy_agrees(p):
    stats = pytest.importorskip("scipy.stats", reason="needs the dependency group `oracles`")
    assert benjamini_hochberg(p) == pytest.approx(list(stats.false_discovery_control(p)), abs=1e-12)
