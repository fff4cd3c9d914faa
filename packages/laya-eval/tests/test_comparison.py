"""Two systems on the same queries."""

from __future__ import annotations

import numpy as np
import pytest
from laya_eval.bootstrap import mean_interval
from laya_eval.comparison import Contest, compare, mean
from laya_eval.errors import MeasureError
from laya_eval.false_discovery import benjamini_hochberg
from laya_eval.permutation import sign_flip_test

QUERIES = [f"q{n}" for n in range(40)]
BASE = dict(zip(QUERIES, np.random.default_rng(0).random(40).round(2).tolist(), strict=True))
BETTER = {q: min(1.0, v + 0.1) for q, v in BASE.items()}
NOISE = dict(zip(QUERIES, np.random.default_rng(1).random(40).round(2).tolist(), strict=True))
FAST = {"resamples": 500, "permutations": 500}


def contest(name, values):
    return Contest(name, "base", "nDCG@10", values, BASE)


def test_what_a_comparison_says():
    better, noise = compare([contest("better", BETTER), contest("noise", NOISE)], **FAST)
    assert better.significant
    assert better.difference == pytest.approx(better.mean - better.baseline_mean)
    assert better.wins + better.losses + better.ties == 40
    assert better.losses == 0
    assert better.interval.low > 0
    assert not noise.significant
    assert noise.detectable > 0


def test_it_is_the_paired_test_adjusted_over_the_family():
    d = np.array([NOISE[q] - BASE[q] for q in QUERIES])
    found = compare([contest("noise", NOISE), contest("better", BETTER)], **FAST)
    assert found[0].p == sign_flip_test(d, permutations=500).p
    assert found[0].interval == mean_interval(d, resamples=500)
    assert [one.q for one in found] == benjamini_hochberg([one.p for one in found])


def test_the_other_way_round_is_the_opposite():
    [there] = compare([contest("noise", NOISE)], **FAST)
    [back] = compare([Contest("base", "noise", "nDCG@10", BASE, NOISE)], **FAST)
    assert back.difference == pytest.approx(-there.difference)
    assert (back.wins, back.losses, back.p) == (there.losses, there.wins, there.p)


def test_a_system_equals_itself():
    [same] = compare([contest("same", BASE)], **FAST)
    assert (same.p, same.ties, same.difference) == (1.0, 40, 0.0)


def test_other_queries_are_refused_by_name():
    fewer = {query: value for query, value in NOISE.items() if query != "q7"}
    with pytest.raises(MeasureError, match="noise lacks 'q7'"):
        compare([contest("noise", fewer)])
    with pytest.raises(MeasureError, match="no queries"):
        mean({})


@pytest.mark.slow
def test_scipy_agrees_to_the_last_digit_of_the_paired_bootstrap():
    stats = pytest.importorskip("scipy.stats", reason="needs the dependency group `oracles`")
    d = np.array([NOISE[q] - BASE[q] for q in QUERIES])
    theirs = stats.bootstrap(
        (d,),
        np.mean,
        n_resamples=2000,
        method="percentile",
        rng=np.random.default_rng(0),
        batch=500,
    ).confidence_interval
    ours = mean_interval(d, resamples=2000)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
