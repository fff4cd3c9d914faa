"""Probabilities for examples by models that have not seen them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laya_retrieval.errors import GateError
from laya_retrieval.logistic import fit_logistic


def out_of_fold(
    features: ArrayLike,
    labels: ArrayLike,
    *,
    groups: Sequence[Hashable] | None = None,
    folds: int = 5,
    seed: int = 0,
    l2: float = 1.0,
) -> NDArray[np.float64]:
    """Every example's probability by a model that has not seen it, `(n,)`.

    Without `groups`, examples are dealt into `folds` at random, each class evenly. With them, each
    group is held out whole (a question type, say): the honest figure for what is new. Report both.
    Raises `GateError` when a training part would have one class only, or there are too few
    examples, or groups, to hold one out.
    """
    x = np.asarray(features, dtype=np.float64)
    y = np.asarray(labels, dtype=np.float64)
    fold = np.empty(len(y), dtype=np.int64)
    if groups is not None:
        if len(groups) != len(y):
            raise GateError(f"{len(groups)} groups for {len(y)} examples")
        known: dict[Hashable, int] = {}
        fold[:] = [known.setdefault(group, len(known)) for group in groups]
    else:
        generator = np.random.default_rng(seed)
        for label in (0, 1):
            members = generator.permutation(np.flatnonzero(y == label))
            fold[members] = np.arange(len(members)) % folds
    parts = np.unique(fold).tolist()
    if len(parts) < 2:
        raise GateError("holding one part out needs at least two")
    result = np.empty(len(y))
    for part in parts:
        held = fold == part
        try:
            fitted = fit_logistic(x[~held], y[~held], l2=l2)
        except ValueError as error:
            raise GateError(f"without part {part}: {error}") from error
        result[held] = fitted.probabilities(x[held])
    return result
