"""How well scores tell the positive cases from the negative ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from laya_eval.errors import MeasureError
from laya_eval.scored import scored_outcomes


def roc_auc(scores: ArrayLike, outcomes: ArrayLike) -> float:
    """The probability that a random positive case scores above a random negative one, 0..1.

    The area under the receiver operating characteristic, ties counted half: the Mann–Whitney
    statistic divided by the number of pairs (Hanley and McNeil, Radiology 143, 1982). Raises
    `MeasureError` when there is only one class.
    """
    s, y = scored_outcomes(scores, outcomes)
    positive = int(y.sum())
    negative = len(y) - positive
    if not positive or not negative:
        raise MeasureError("a ROC curve needs positive and negative cases")
    _, place, count = np.unique(s, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - (count - 1) / 2  # the mean rank of each distinct score, from 1
    above = float(middle[place][y == 1].sum()) - positive * (positive + 1) / 2
    return above / (positive * negative)


def accuracy(scores: ArrayLike, outcomes: ArrayLike, *, threshold: float = 0.5) -> float:
    """The share of cases that `score >= threshold` classifies rightly, 0..1."""
    s, y = scored_outcomes(scores, outcomes)
    return float(np.mean((s >= threshold) == (y == 1)))
