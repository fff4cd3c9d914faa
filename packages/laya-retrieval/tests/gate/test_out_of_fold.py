"""Probabilities by models that have not seen the example."""

import numpy as np
import pytest
from laya_retrieval import GateError, out_of_fold


def examples(n=120, seed=0):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, 3))
    return x, (x[:, 0] > 0).astype(int)


def test_every_example_gets_a_probability_and_signal_is_found():
    x, y = examples()
    p = out_of_fold(x, y)
    assert p.shape == (120,)
    assert ((p > 0.5) == y).mean() > 0.9


def test_labels_without_signal_stay_near_the_base_rate():
    x, _ = examples()
    y = np.random.default_rng(5).integers(0, 2, 120)
    assert abs(((out_of_fold(x, y) > 0.5) == y).mean() - 0.5) < 0.15


def test_a_held_out_group_is_not_seen():
    # Within each group the sign of the feature is the label, across them it is reversed.
    x = np.array([[1.0], [-1.0]] * 20 + [[-1.0], [1.0]] * 20)
    y = np.array([1, 0] * 40)
    groups = ["one"] * 40 + ["two"] * 40
    p = out_of_fold(x, y, groups=groups, l2=0.01)
    assert ((p > 0.5) == y).mean() == 0.0


def test_the_same_seed_gives_the_same_folds():
    x, y = examples()
    assert np.array_equal(out_of_fold(x, y, seed=3), out_of_fold(x, y, seed=3))
    assert not np.array_equal(out_of_fold(x, y, seed=3), out_of_fold(x, y, seed=4))


def test_what_cannot_be_held_out_is_refused():
    x, y = examples(10)
    with pytest.raises(GateError, match="two"):
        out_of_fold(x, y, groups=["all"] * 10)
    with pytest.raises(GateError, match="groups for"):
        out_of_fold(x, y, groups=["a"])
    with pytest.raises(GateError, match="both classes"):
        out_of_fold(x, y, groups=[str(label) for label in y])
