"""Logistic regression by Newton's method, in plain numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, eq=False)
class LogisticFit:
    """Weights `(d,)` of standardised columns, their mean and scale `(d,)`, and the intercept."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercept: float

    def probabilities(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """`(n, d)` features to `(n,)` probabilities."""
        return sigmoid((features - self.mean) / self.scale @ self.weights + self.intercept)


def sigmoid(log_odds: ArrayLike) -> NDArray[np.float64]:
    """`1 / (1 + exp(-x))` without overflow, any shape."""
    x = np.asarray(log_odds, dtype=np.float64)
    small = np.exp(-np.abs(x))
    result: NDArray[np.float64] = np.where(x >= 0, 1 / (1 + small), small / (1 + small))
    return result


def fit_logistic(features: ArrayLike, labels: ArrayLike, *, l2: float = 1.0) -> LogisticFit:
    """The maximum of `log-likelihood - l2 / 2 · Σ weight²` over standardised columns.

    `features` is `(n, d)`, `labels` `(n,)` of 0 and 1; the intercept is not penalised. A constant
    column gets weight 0. Newton's method (iteratively reweighted least squares) with step halving
    on a strictly concave objective. Raises `ValueError` for shapes that do not fit, values that
    are not finite, labels of one class only, or an `l2` that is not above 0.
    """
    x = np.asarray(features, dtype=np.float64)
    y = np.asarray(labels, dtype=np.float64)
    if x.ndim != 2 or y.shape != (len(x),):
        raise ValueError(f"give (n, d) features and (n,) labels, not {x.shape} and {y.shape}")
    if not bool(np.all(np.isfinite(x))):
        raise ValueError("a feature is not finite")
    if not bool(np.all((y == 0) | (y == 1))):
        raise ValueError("labels are 0 and 1")
    if len(set(y.tolist())) < 2:
        raise ValueError("a fit needs examples of both classes")
    if not l2 > 0:
        raise ValueError(
            f"l2 must be above 0, not {l2!r}: separable labels have no optimum without"
        )
    mean, scale = x.mean(axis=0), x.std(axis=0)
    constant = scale < 1e-12 * np.maximum(np.abs(mean), 1.0)
    scale = np.where(constant, 1.0, scale)
    design = np.column_stack([np.where(constant, 0.0, (x - mean) / scale), np.ones(len(x))])
    penalty = np.full(design.shape[1], l2)
    penalty[-1] = 0.0

    def objective(beta: NDArray[np.float64]) -> float:
        z = design @ beta
        return float(np.sum(y * z - np.logaddexp(0.0, z)) - 0.5 * np.sum(penalty * beta**2))

    beta = np.zeros(design.shape[1])
    value = objective(beta)
    for _ in range(100):
        p = sigmoid(design @ beta)
        gradient = design.T @ (y - p) - penalty * beta
        hessian = (design * (p * (1 - p))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        size = 1.0
        while objective(beta + size * step) < value - 1e-12 and size > 1e-6:
            size /= 2
        beta = beta + size * step
        value = objective(beta)
        if float(np.max(np.abs(size * step))) < 1e-10:
            break
    return LogisticFit(mean=mean, scale=scale, weights=beta[:-1], intercept=float(beta[-1]))
