"""Scores with the outcomes that they predict, checked once for every measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laya_eval.errors import MeasureError


def scored_outcomes(
    scores: ArrayLike, outcomes: ArrayLike, *, probabilities: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both as `(n,)` float64, `outcomes` of 0 and 1.

    Raises `MeasureError` for other shapes, for none at all, for a score that is not finite, for an
    outcome other than 0 or 1, and, with `probabilities`, for a score outside 0..1.
    """
    s = np.asarray(scores, dtype=np.float64)
    y = np.asarray(outcomes, dtype=np.float64)
    if s.ndim != 1 or s.shape != y.shape:
        raise MeasureError(f"give (n,) scores and (n,) outcomes, not {s.shape} and {y.shape}")
    if not len(s):
        raise MeasureError("there is nothing to measure: no scores")
    if not bool(np.all(np.isfinite(s))):
        raise MeasureError(f"score {int(np.argmin(np.isfinite(s)))} is not finite")
    if not bool(np.all((y == 0) | (y == 1))):
        raise MeasureError("outcomes are 0 and 1")
    if probabilities and not bool(np.all((s >= 0) & (s <= 1))):
        raise MeasureError("probabilities lie between 0 and 1")
    return s, y
