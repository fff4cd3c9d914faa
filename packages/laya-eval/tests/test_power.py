"""The minimum detectable effect."""

from __future__ import annotations

import numpy as np
import pytest
from laya_eval.errors import MeasureError
from laya_eval.permutation import sign_flip_test
from laya_eval.power import minimum_detectable_effect


def test_the_textbook_figure():
    d = np.tile([1.0, -1.0], 50)
    spread = d.std(ddof=1)
    assert minimum_detectable_effect(d) == pytest.approx(2.8016 * spread / 10, rel=1e-4)


def test_an_effect_of_that_size_is_found_four_times_out_of_five():
    generator = np.random.default_rng(5)
    effect = minimum_detectable_effect(generator.normal(0, 1, size=60))
    found = [
        sign_flip_test(generator.normal(effect, 1, size=60), permutations=400).p <= 0.05
        for _ in range(300)
    ]
    assert np.mean(found) == pytest.approx(0.8, abs=0.08)


def test_without_spread_there_is_no_figure_and_nothing_is_refused():
    assert minimum_detectable_effect([0.3]) is None
    assert minimum_detectable_effect([0.0, 0.0]) is None
    with pytest.raises(MeasureError, match="finite differences"):
        minimum_detectable_effect([])
    with pytest.raises(MeasureError, match="between 0 and 1"):
        minimum_detectable_effect([1.0, 2.0], alpha=1.0)
