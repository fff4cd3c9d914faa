"""Choosing a system per corpus without the labels that it is then measured on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from laya_eval.errors import MeasureError

SPLITS = 200


@dataclass(frozen=True, slots=True)
class SplitHalves:
    """What comes of choosing the better system on one half of the queries, for the other half."""

    splits: int
    #: System to the share of the halves on which it was the best.
    chosen: Mapping[str, float]
    #: Query to the mean value of what was chosen without that query.
    values: Mapping[str, float]
    #: The mean of the system that is best on all queries: what choosing with the test labels shows.
    best_of_all: float


def choose_by_split_halves(
    values: Mapping[str, Mapping[str, float]], *, splits: int = SPLITS, seed: int = 0
) -> SplitHalves:
    """Cut the queries in two at random `splits` times; each half chooses for the other.

    `values` is system to query to value; ties go to the system that comes first. Raises
    `MeasureError` for fewer than two queries, no systems, or systems with different queries.
    """
    names = list(values)
    if not names:
        raise MeasureError("there is no system to choose from")
    queries = list(values[names[0]])
    if len(queries) < 2:
        raise MeasureError("two halves need at least two queries")
    if any(values[name].keys() != values[names[0]].keys() for name in names):
        raise MeasureError("the systems were not measured on the same queries")
    table = np.array([[values[name][query] for query in queries] for name in names])
    generator = np.random.default_rng(seed)
    held_out = np.zeros(len(queries))
    counts = np.zeros(len(names))
    for _ in range(splits):
        order = generator.permutation(len(queries))
        halves = order[: len(queries) // 2], order[len(queries) // 2 :]
        for chooser, other in (halves, halves[::-1]):
            # Rounding keeps equal means equal, whatever the order of their sums.
            best = int(np.argmax(np.round(table[:, chooser].mean(axis=1), 12)))
            counts[best] += 1
            held_out[other] += table[best, other]
    shares = (counts / counts.sum()).tolist()
    return SplitHalves(
        splits=splits,
        chosen={name: share for name, share in zip(names, shares, strict=True) if share},
        values=dict(zip(queries, (held_out / splits).tolist(), strict=True)),
        best_of_all=float(table.mean(axis=1).max()),
    )
