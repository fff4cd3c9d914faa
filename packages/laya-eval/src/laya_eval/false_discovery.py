"""Many tests at once: p-values adjusted so that few of the differences called real are not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laya_eval.errors import MeasureError


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """The adjusted p-value (q) of each test of a family, in the order given.

    Calling every q of at most α real makes, in expectation, a share of at most α of those calls
    wrong. Benjamini and Hochberg, JRSS B 57 (1995), for independent or positively dependent tests.
    Raises `MeasureError` for a value outside 0..1.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not bool(np.all((p >= 0) & (p <= 1))):
        raise MeasureError("p-values lie between 0 and 1")
    order = np.argsort(p, kind="stable")
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return [float(value) for value in adjusted]
