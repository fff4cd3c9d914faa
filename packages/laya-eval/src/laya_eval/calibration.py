"""Whether probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from laya_eval.errors import MeasureError
from laya_eval.scored import scored_outcomes

#: As in Guo et al. (2017) and most of what is published since.
BINS = 15


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """The cases whose probability lies in `(low, high]`; the first bin includes 0."""

    low: float
    high: float
    count: int
    #: Mean probability and share of positive cases; None for an empty bin.
    mean_probability: float | None
    positive_share: float | None


def brier(probabilities: ArrayLike, outcomes: ArrayLike) -> float:
    """The mean squared distance of probability and outcome; 0 is best, always saying .5 is .25.

    Brier, Monthly Weather Review 78 (1950), in its one-class form.
    """
    p, y = scored_outcomes(probabilities, outcomes, probabilities=True)
    return float(np.mean((p - y) ** 2))


def calibration_bins(
    probabilities: ArrayLike, outcomes: ArrayLike, *, bins: int = BINS
) -> tuple[CalibrationBin, ...]:
    """`bins` bins of equal width over the probability of the positive class, empty ones too.

    Raises `MeasureError` for fewer than one bin.
    """
    p, y = scored_outcomes(probabilities, outcomes, probabilities=True)
    if bins < 1:
        raise MeasureError(f"at least one bin, not {bins}")
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.maximum(np.searchsorted(edges, p, side="left") - 1, 0)
    count = np.bincount(place, minlength=bins)
    mass = np.bincount(place, weights=p, minlength=bins)
    positive = np.bincount(place, weights=y, minlength=bins)
    return tuple(
        CalibrationBin(
            low=float(edges[i]),
            high=float(edges[i + 1]),
            count=int(count[i]),
            mean_probability=float(mass[i] / count[i]) if count[i] else None,
            positive_share=float(positive[i] / count[i]) if count[i] else None,
        )
        for i in range(bins)
    )


def binned_error(bins: Sequence[CalibrationBin]) -> float:
    """The distance of mean probability and positive share, weighted by the bins' counts, 0..1."""
    total = sum(b.count for b in bins)
    return (
        sum(
            b.count * abs(b.mean_probability - b.positive_share)
            for b in bins
            if b.mean_probability is not None and b.positive_share is not None
        )
        / total
    )


def expected_calibration_error(
    probabilities: ArrayLike, outcomes: ArrayLike, *, bins: int = BINS
) -> float:
    """The expected calibration error, 0..1, over `bins` bins of equal width.

    Naeini et al., AAAI 2015, for the probability of the positive class; Guo et al., ICML 2017,
    bin the confidence in the predicted class instead, which hides errors that cancel out.
    """
    return binned_error(calibration_bins(probabilities, outcomes, bins=bins))
