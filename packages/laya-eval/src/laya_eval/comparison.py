"""Two systems on the same queries: the difference, its interval, and whether it could be chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from laya_eval.bootstrap import MEAN_RESAMPLES, Interval, mean_interval
from laya_eval.errors import MeasureError
from laya_eval.false_discovery import benjamini_hochberg
from laya_eval.permutation import PERMUTATIONS, sign_flip_test
from laya_eval.power import ALPHA, minimum_detectable_effect

#: Query id to a measure's value.
Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """System `name` against `baseline` on one measure; a difference above 0 favours `name`."""

    name: str
    baseline: str
    measure: str
    mean: float
    baseline_mean: float
    difference: float
    #: Paired bootstrap over queries.
    interval: Interval
    #: Sign-flip test, two-sided, and adjusted over the family that it was compared in.
    p: float
    q: float
    #: Whether p is exact, or from seeded random sign patterns.
    exact: bool
    #: See `minimum_detectable_effect`.
    detectable: float | None
    #: Queries on which `name` is better, worse, and equal.
    wins: int
    losses: int
    ties: int

    @property
    def significant(self) -> bool:
        """Whether q is at most .05."""
        return self.q <= ALPHA


@dataclass(frozen=True, slots=True)
class Contest:
    """What is compared: two systems' values of one measure, by query."""

    name: str
    baseline: str
    measure: str
    values: Values
    baseline_values: Values


def compare(
    family: Sequence[Contest],
    *,
    resamples: int = MEAN_RESAMPLES,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> list[Comparison]:
    """Every contest of a family; `q` is adjusted over all of them (Benjamini–Hochberg).

    Raises `MeasureError` when two systems were not measured on the same queries.
    """
    tests = []
    for contest in family:
        d = paired_differences(contest)
        tests.append((contest, d, sign_flip_test(d, permutations=permutations, seed=seed)))
    adjusted = benjamini_hochberg([test.p for _, _, test in tests])
    return [
        Comparison(
            name=contest.name,
            baseline=contest.baseline,
            measure=contest.measure,
            mean=mean(contest.values),
            baseline_mean=mean(contest.baseline_values),
            difference=float(d.mean()),
            interval=mean_interval(d, resamples=resamples, seed=seed),
            p=test.p,
            q=q,
            exact=test.exact,
            detectable=minimum_detectable_effect(d),
            wins=int(np.count_nonzero(d > 0)),
            losses=int(np.count_nonzero(d < 0)),
            ties=int(np.count_nonzero(d == 0)),
        )
        for (contest, d, test), q in zip(tests, adjusted, strict=True)
    ]


def paired_differences(contest: Contest) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Value minus baseline for each query, `(queries,)`, in the order of the baseline's queries.

    Raises `MeasureError`, naming a query, when one of the two lacks it.
    """
    here, there = contest.values, contest.baseline_values
    if odd := sorted(here.keys() ^ there.keys()):
        lacking = contest.name if odd[0] in there else contest.baseline
        raise MeasureError(
            f"{contest.name} and {contest.baseline} were measured on other queries: "
            f"{lacking} lacks {odd[0]!r} (and {len(odd) - 1} more differ)"
        )
    return np.array([here[query] - there[query] for query in there], dtype=np.float64)


def mean(values: Values) -> float:
    """The mean over queries; raises `MeasureError` when there are none."""
    if not values:
        raise MeasureError("there are no queries to average over")
    return float(np.mean(list(values.values())))
