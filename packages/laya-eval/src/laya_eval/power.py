"""What a comparison could have seen: the difference that it would probably not have missed."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from laya_eval.errors import MeasureError

ALPHA = 0.05
POWER = 0.8


def minimum_detectable_effect(
    differences: ArrayLike, *, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """The least true mean difference that a two-sided paired test finds with probability `power`.

    `(z(1 - α/2) + z(power)) · s / √n` with the standard deviation s of the `(queries,)`
    differences (Cohen, Statistical Power Analysis, 1988; normal approximation). Beside a
    difference that is not significant it says how small an effect can be and still be there. None
    for differences without any spread, which tell nothing about it: a single query, or no query
    that differs. Raises `MeasureError` for no differences, or levels
    outside 0..1.
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 1 or not len(d) or not bool(np.all(np.isfinite(d))):
        raise MeasureError("a detectable effect needs (queries,) finite differences")
    if not (0 < alpha < 1 and 0 < power < 1):
        raise MeasureError("alpha and power lie between 0 and 1")
    if len(d) == 1 or bool(np.all(d == d[0])):
        return None
    normal = NormalDist()
    quantiles = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
    return float(quantiles * d.std(ddof=1) / np.sqrt(len(d)))
