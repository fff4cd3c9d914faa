"""What answering less often buys: the risk among the cases that are answered.

A selective system answers the cases it is surest of. Its coverage is the share that it answers, its
risk the mean loss among those (El-Yaniv and Wiener, JMLR 11, 2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laya_eval.errors import MeasureError
from laya_eval.scored import scored_outcomes


@dataclass(frozen=True, slots=True, eq=False)
class RiskCoverage:
    """One point for every distinct confidence, highest first; all `(points,)` float64.

    `coverage` rises to 1; `risk` is the mean loss among the cases of at least that confidence.
    """

    confidence: NDArray[np.float64]
    coverage: NDArray[np.float64]
    risk: NDArray[np.float64]


def risk_coverage(confidence: ArrayLike, loss: ArrayLike) -> RiskCoverage:
    """The curve of a loss of 0 or 1; cases of equal confidence can only be answered together."""
    c, lost = scored_outcomes(confidence, loss)
    distinct, count, losses = _levels(c, lost)
    answered = np.cumsum(count)
    return RiskCoverage(distinct, answered / len(c), np.cumsum(losses) / answered)


def aurc(confidence: ArrayLike, loss: ArrayLike) -> float:
    """The area under the risk–coverage curve, 0..1: the mean risk of answering 1, 2, … n cases.

    Geifman and El-Yaniv, NeurIPS 2017. Cases of equal confidence are taken in random order, so
    this is the expectation over orders and the order of the input does not matter. The mean loss
    is what a confidence without any information gets.
    """
    c, lost = scored_outcomes(confidence, loss)
    _, count, losses = _levels(c, lost)
    before = np.cumsum(count) - count
    lost_before = np.cumsum(losses) - losses
    within = np.arange(1, len(c) + 1) - np.repeat(before, count)
    expected = np.repeat(lost_before, count) + within * np.repeat(losses / count, count)
    return float(np.mean(expected / np.arange(1, len(c) + 1)))


def best_aurc(loss: ArrayLike) -> float:
    """The least area that any confidence could reach with these losses: every loss ranked last."""
    values = np.asarray(loss, dtype=np.float64)
    return aurc(1.0 - values, values)


def coverage_at_risk(confidence: ArrayLike, loss: ArrayLike, *, risk: float) -> float:
    """The largest share of cases that can be answered with a risk of at most `risk`, 0..1.

    It reads the threshold off the same cases that it is measured on, which flatters it a little.
    """
    curve = risk_coverage(confidence, loss)
    fine = curve.coverage[curve.risk <= risk + 1e-12]
    return float(fine[-1]) if len(fine) else 0.0


def answered_shares(confidence: ArrayLike, *, coverage: float) -> NDArray[np.float64]:
    """The chance of each case to be answered, `(n,)`, when the surest `coverage · n` are answered.

    The number of answered cases is rounded, and at least one. Cases of equal confidence are taken
    in random order, so where only some of them fit in, each has the same chance. Raises
    `MeasureError` for a coverage that is not above 0 and at most 1.
    """
    if not 0 < coverage <= 1:
        raise MeasureError(f"coverage lies above 0 and at most at 1, not {coverage!r}")
    c, _ = scored_outcomes(confidence, np.zeros(np.shape(confidence)))
    _, place, count = np.unique(-c, return_inverse=True, return_counts=True)
    answered = max(1, round(coverage * len(c)))
    before = np.cumsum(count) - count
    taken = np.clip(answered - before, 0, count)
    shares: NDArray[np.float64] = (taken / count)[place]
    return shares


def risk_at_coverage(confidence: ArrayLike, loss: ArrayLike, *, coverage: float) -> float:
    """The mean loss among the surest `coverage` of the cases, as `answered_shares` takes them."""
    c, lost = scored_outcomes(confidence, loss)
    shares = answered_shares(c, coverage=coverage)
    return float(shares @ lost / shares.sum())


def _levels(
    confidence: NDArray[np.float64], loss: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Distinct confidences, highest first, how many cases have each, and the sum of their loss."""
    distinct, place, count = np.unique(-confidence, return_inverse=True, return_counts=True)
    losses = np.bincount(place, weights=loss, minlength=len(distinct)).astype(np.float64)
    return -distinct, count.astype(np.int64), losses
