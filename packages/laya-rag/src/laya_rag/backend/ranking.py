"""The best rows of a leg, in one order that does not depend on where a row lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Rows and their scores, `(n,)` both, best first."""

    rows: Rows
    scores: NDArray[np.float64]


def shortlist(
    scores: NDArray[np.floating[Any]], rows: Rows, depth: int, margin: float = 0.0
) -> Rows:
    """Those of `rows` that may be among the best `depth`, if `scores` are off by up to `margin`.

    `scores` run beside `rows`. Everything that ties with the last place stays.
    """
    if len(rows) <= depth:
        return rows
    last = np.partition(scores, len(rows) - depth)[len(rows) - depth]
    kept: Rows = rows[scores >= last - 2 * margin]
    return kept


def best(scores: NDArray[np.float64], rows: Rows, depth: int, places: NDArray[np.uint32]) -> Ranked:
    """The best `depth` of `rows` by descending score, `scores` beside them.

    Ties go by id: `places` holds for every row of the corpus the place of its id among all ids.
    """
    kept = shortlist(scores, np.arange(len(rows)), depth)
    rows, scores = rows[kept], scores[kept]
    order = np.lexsort((places[rows], -scores))[:depth]
    return Ranked(rows[order], scores[order])
