"""From the states of tokens to vectors whose dot product is a cosine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from laya_signals.errors import EncodeError


def mean_pool(states: NDArray[np.float32]) -> NDArray[np.float64]:
    """The mean over the tokens of `(t, d)` states: `(d,)` float64."""
    mean: NDArray[np.float64] = states.mean(axis=0, dtype=np.float64)
    return mean


def unit_rows(
    vectors: NDArray[np.float32] | NDArray[np.float64], what: str = "text"
) -> NDArray[np.float32]:
    """Each row of `(n, d)` divided by its length: float32.

    Raises `EncodeError`, naming the row as `what` and its number, when it is zero or not finite.
    """
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    bad = np.flatnonzero(~(np.isfinite(lengths[:, 0]) & (lengths[:, 0] > 0)))
    if bad.size:
        raise EncodeError(f"the vector of {what} {bad[0]} is zero or not finite")
    rows: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
    return rows
