"""Logistic regression."""

import numpy as np
import pytest
from laya_retrieval.logistic import fit_logistic, sigmoid


def examples(n=400, d=4, seed=0):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, d)) * [1, 10, 0.1, 5][:d] + [0, 3, -1, 100][:d]
    y = generator.random(n) < sigmoid(x[:, 0] - 0.2 * (x[:, 1] - 3))
    return x, y.astype(float)


def test_the_gradient_vanishes_at_the_fit():
    x, y = examples()
    fit = fit_logistic(x, y, l2=2.0)
    z = (x - fit.mean) / fit.scale
    residual = y - fit.probabilities(x)
    assert z.T @ residual - 2.0 * fit.weights == pytest.approx(np.zeros(4), abs=1e-6)
    assert residual.sum() == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
def test_it_equals_a_general_optimiser():
    optimize = pytest.importorskip("scipy.optimize", reason="needs the dependency group `oracles`")
    x, y = examples()
    fit = fit_logistic(x, y, l2=2.0)
    z = np.column_stack([(x - fit.mean) / fit.scale, np.ones(len(x))])

    def loss(beta):
        return np.logaddexp(0, z @ beta).sum() - y @ (z @ beta) + (beta[:-1] ** 2).sum()

    best = optimize.minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-8}).x
    assert [*fit.weights, fit.intercept] == pytest.approx(best, abs=1e-4)


def test_separable_labels_have_a_finite_fit():
    fit = fit_logistic([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], l2=0.1)
    assert np.isfinite(fit.weights).all()
    assert fit.probabilities(np.array([[0.0], [3.0]])) == pytest.approx([0.1, 0.9], abs=0.1)


def test_a_constant_column_weighs_nothing():
    x, y = examples(d=2)
    fit = fit_logistic(np.column_stack([x, np.full(len(x), 0.1)]), y)
    assert fit.weights[2] == pytest.approx(0.0, abs=1e-12)


def test_sigmoid_does_not_overflow():
    assert sigmoid([-1e4, 0.0, 1e4]) == pytest.approx([0.0, 0.5, 1.0])


@pytest.mark.parametrize(
    ("x", "y", "l2"),
    [
        ([[1.0], [2.0]], [1, 1], 1.0),
        ([[1.0], [2.0]], [1, 2], 1.0),
        ([[1.0], [float("nan")]], [0, 1], 1.0),
        ([[1.0]], [0, 1], 1.0),
        ([1.0, 2.0], [0, 1], 1.0),
        ([[1.0], [2.0]], [0, 1], 0.0),
    ],
)
def test_what_cannot_be_fitted_is_refused(x, y, l2):
    with pytest.raises(ValueError):  # noqa: PT011
        fit_logistic(x, y, l2=l2)
