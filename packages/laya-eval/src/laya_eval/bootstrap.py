"""How much a measure would move with other queries of the same kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laya_eval.errors import MeasureError

RESAMPLES = 1000
#: A mean is cheap to resample, so its interval can be had with less noise.
MEAN_RESAMPLES = 10_000

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval at a confidence level."""

    low: float
    high: float
    level: float


def bootstrap_interval(
    measure: Callable[[NDArray[np.intp]], float],
    queries: int,
    *,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> Interval | None:
    """The percentile bootstrap interval of `measure` over `queries` queries.

    `measure` gets the indices `(queries,)` of one resample, drawn with replacement. Resamples for
    which it raises `MeasureError` (one class only, say) are left out; None when that is more than
    half of them. Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13. Raises
    `MeasureError` for no queries, no resamples, or a level outside 0..1.
    """
    _check(queries, resamples, level)
    generator = np.random.default_rng(seed)
    values: list[float] = []
    for _ in range(resamples):
        try:
            values.append(measure(generator.integers(0, queries, size=queries)))
        except MeasureError:
            continue
    if 2 * len(values) < resamples:
        return None
    tail = (1 - level) / 2
    low, high = np.quantile(np.array(values), [tail, 1 - tail]).tolist()
    return Interval(low, high, level)


def mean_interval(
    values: ArrayLike,
    *,
    resamples: int = MEAN_RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """The percentile bootstrap interval of the mean of `values`, `(queries,)`.

    Given the differences of two systems, query by query, it is the paired bootstrap. The same
    resamples as `bootstrap_interval` draws with this seed, in one piece. Raises `MeasureError` as
    it does, and for values that are not finite.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or not bool(np.all(np.isfinite(numbers))):
        raise MeasureError("a bootstrap of the mean needs (queries,) finite values")
    _check(len(numbers), resamples, level)
    generator = np.random.default_rng(seed)
    means = np.concatenate(
        [
            numbers[generator.integers(0, len(numbers), size=(count, len(numbers)))].mean(axis=1)
            for count in batches(resamples, _BATCH)
        ]
    )
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail]).tolist()
    return Interval(low, high, level)


def batches(total: int, size: int) -> list[int]:
    """`total` as a sum of numbers of at most `size`, so that a big array is made in pieces."""
    return [min(size, total - start) for start in range(0, total, size)]


def _check(queries: int, resamples: int, level: float) -> None:
    if queries < 1 or resamples < 1 or not 0 < level < 1:
        raise MeasureError("a bootstrap needs queries, resamples, and a level between 0 and 1")
