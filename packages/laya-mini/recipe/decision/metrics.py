"""Figures for probabilities: ROC-AUC, ECE, Brier, risk-coverage, with bootstrap intervals."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence


def auc(y: Sequence[float], s: Sequence[float]) -> float:
    """Area under the ROC curve, ties counted half; nan when one class is missing."""
    rows = sorted(zip(s, y, strict=True))
    pos = sum(1 for v in y if v > 0.5)
    neg = len(y) - pos
    if not pos or not neg:
        return math.nan
    total, i = 0.0, 0
    while i < len(rows):
        j = i
        while j < len(rows) and rows[j][0] == rows[i][0]:
            j += 1
        total += (i + j + 1) / 2 * sum(1 for k in range(i, j) if rows[k][1] > 0.5)
        i = j
    return (total - pos * (pos + 1) / 2) / (pos * neg)


def ece(y: Sequence[float], p: Sequence[float], bins: int = 15) -> float:
    """Expected calibration error of P(yes) over equal-width bins."""
    sums = [[0.0, 0.0, 0.0] for _ in range(bins)]
    for yi, pi in zip(y, p, strict=True):
        b = sums[min(bins - 1, int(pi * bins))]
        b[0] += 1
        b[1] += pi
        b[2] += yi
    return sum(abs(c - t) for n, c, t in sums if n) / len(y)


def brier(y: Sequence[float], p: Sequence[float]) -> float:
    """Mean squared error of P(yes)."""
    return sum((a - b) ** 2 for a, b in zip(y, p, strict=True)) / len(y)


def accuracy(y: Sequence[float], p: Sequence[float]) -> float:
    """Accuracy at .5."""
    return sum((a > 0.5) == (b > 0.5) for a, b in zip(y, p, strict=True)) / len(y)


def risk_coverage(
    y: Sequence[float], p: Sequence[float], at: Sequence[float] = (1.0, 0.8, 0.6, 0.4, 0.2)
) -> dict[float, float]:
    """Share of wrong decisions among the most confident part of the items."""
    rows = sorted(
        ((max(b, 1 - b), (a > 0.5) == (b > 0.5)) for a, b in zip(y, p, strict=True)),
        key=lambda r: -r[0],
    )
    out = {}
    for c in at:
        part = rows[: max(1, round(c * len(rows)))]
        out[c] = 1 - sum(r[1] for r in part) / len(part)
    return out


def bootstrap(
    fn: Callable[[list[int]], float],
    n: int,
    groups: Sequence[str] | None = None,
    rounds: int = 300,
    seed: int = 1,
) -> tuple[float, float]:
    """A 95 % interval by resampling items, or whole groups where they are given."""
    rng = random.Random(seed)
    values = []
    by: dict[str, list[int]] = {}
    for i in range(n):
        by.setdefault(groups[i] if groups else str(i), []).append(i)
    keys = sorted(by)
    for _ in range(rounds):
        pick = [i for k in rng.choices(keys, k=len(keys)) for i in by[k]]
        v = fn(pick)
        if not math.isnan(v):
            values.append(v)
    values.sort()
    return values[int(0.025 * len(values))], values[int(0.975 * len(values)) - 1]
