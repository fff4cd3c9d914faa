"""How much a measure would move with other queries of the same kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from laya_eval.errors import MeasureError

RESAMPLES = 1000


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
    if queries < 1 or resamples < 1 or not 0 < level < 1:
        raise MeasureError("a bootstrap needs queries, resamples, and a level between 0 and 1")
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
