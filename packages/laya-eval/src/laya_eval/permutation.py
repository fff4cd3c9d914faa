"""Whether the difference of two systems on the same queries could be chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laya_eval.bootstrap import batches
from laya_eval.errors import MeasureError

#: Random sign patterns where there are too many to go through all.
PERMUTATIONS = 100_000
#: Up to this many queries with a difference, every one of the 2^n patterns is looked at.
EXACT_UP_TO = 18

_BATCH = 5_000


@dataclass(frozen=True, slots=True)
class SignFlip:
    """The outcome of a sign-flip test."""

    #: Two-sided: how often chance gives a mean difference at least as large.
    p: float
    exact: bool


def sign_flip_test(
    differences: ArrayLike, *, permutations: int = PERMUTATIONS, seed: int = 0
) -> SignFlip:
    """The paired permutation test of a mean difference of zero, two-sided.

    `differences` is `(queries,)`. If the systems are exchangeable, each difference is as likely to
    have the other sign. Exact over all sign patterns for up to 18 differences other than 0;
    beyond that Monte Carlo with `permutations` seeded patterns, the observed one counted too, so
    that p is never 0. Fisher, The Design of Experiments (1935); Smucker, Allan and Carterette,
    CIKM 2007, for retrieval. Raises `MeasureError` for no differences, values that are not finite,
    or no permutations.
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 1 or not len(d) or not bool(np.all(np.isfinite(d))):
        raise MeasureError("a sign-flip test needs (queries,) finite differences")
    if permutations < 1:
        raise MeasureError(f"a sign-flip test needs at least one permutation, not {permutations}")
    d = d[d != 0]  # a zero is the same with either sign
    # Sums that differ by rounding alone are equal.
    threshold = abs(float(d.sum())) - 1e-12 * float(np.abs(d).sum())
    if len(d) <= EXACT_UP_TO:
        sums: NDArray[np.float64] = np.zeros(1)
        for value in d:
            sums = np.concatenate([sums + value, sums - value])
        return SignFlip(float(np.mean(np.abs(sums) >= threshold)), exact=True)
    generator = np.random.default_rng(seed)
    extreme = 0
    for count in batches(permutations, _BATCH):
        signs = generator.integers(0, 2, size=(count, len(d)), dtype=np.int8) * 2.0 - 1.0
        extreme += int(np.count_nonzero(np.abs(signs @ d) >= threshold))
    return SignFlip((extreme + 1) / (permutations + 1), exact=False)
