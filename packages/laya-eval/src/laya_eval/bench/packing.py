"""Packing passages into a budget: how close to the optimum, and how fast, against HiGHS."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from laya_retrieval.candidate import Candidate
from laya_retrieval.process.knapsack import solve
from laya_retrieval.process.pack import Packer

from laya_eval.bench.peers import HIGHS
from laya_eval.bench.row import Row
from laya_eval.bench.setup import Setup
from laya_eval.bench.timing import median_ms
from laya_eval.errors import BenchError, MissingPeerError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# HiGHS proves its bound to a relative gap of 1e-4.
_GAP = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A quadratic knapsack of n items: (n,) values and costs, a capacity, (n, n) penalties."""

    values: Floats
    costs: Ints
    capacity: int
    penalties: Floats


def measure(setup: Setup) -> Iterator[Row]:
    """Random instances of 100 candidates, for each share of similar pairs and each budget."""
    items = setup.of(100, 100, 12)
    for density in setup.of((0.0, 0.01, 0.03, 0.1), (0.0, 0.03), (0.1,)):
        for share in (0.1, 0.3):
            task = f"pack {items}, {density:.0%} of pairs alike, budget {share:.0%}"
            yield _compared(
                task,
                [random_instance(s, density, share, items) for s in range(setup.of(12, 2, 1))],
            )
    pool = text_pool(setup.of(100, 100, 10))
    for budget in (1000, 4000, 100_000):
        packer = Packer(budget=budget)
        result = packer.pack("q", pool)
        taken = median_ms(lambda packer=packer: packer.pack("q", pool))  # type: ignore[misc]
        note = f"{len(result.candidates)} packed, {result.method}"
        yield Row(f"pack {len(pool)} texts of 150 words, {budget:,} tokens", "ms", taken, note=note)


def _compared(task: str, instances: list[Instance]) -> Row:
    """Raises `BenchError` for a result beyond the bound, or one called exact that falls short."""
    own, theirs, shares = [], [], []
    exact = 0
    for instance in instances:
        started = time.perf_counter()
        solution = solve(instance.values, instance.costs, instance.capacity, instance.penalties)
        own.append(1e3 * (time.perf_counter() - started))
        exact += solution.exact
        try:
            highs = HIGHS.load()
        except MissingPeerError as error:
            return HIGHS.missing(task, "ms", own[0], error)
        started = time.perf_counter()
        bound = _highs_bound(highs, instance)
        theirs.append(1e3 * (time.perf_counter() - started))
        shares.append(solution.objective / bound)
        if shares[-1] > 1 + 1e-6 or (solution.exact and shares[-1] < 1 - 2 * _GAP):
            raise BenchError(f"{task}: our objective is {shares[-1]:.6f} of the bound of HiGHS")
    note = f"of the optimum at least {min(shares):.4f}, mean {statistics.fmean(shares):.5f}; "
    note += f"{exact} of {len(instances)} exact"
    return Row(task, "ms", statistics.median(own), HIGHS.name, statistics.median(theirs), note)


def random_instance(seed: int, density: float, share: float, n: int = 100) -> Instance:
    """Exponential values, costs of 20 to 400, and penalties for a `density` of the pairs.

    A penalty is uniform in [0, the lesser value); the capacity is `share` of all costs.
    """
    draws = np.random.default_rng(seed)
    values = draws.exponential(1.0, n) + 0.05
    costs = draws.integers(20, 400, n)
    similar = np.triu(draws.random((n, n)) * (draws.random((n, n)) < density), 1)
    penalties = (similar + similar.T) * np.minimum(values[:, None], values)
    return Instance(values, costs, int(costs.sum() * share), penalties)


@contextmanager
def _without_banner() -> Iterator[None]:
    """HiGHS greets on standard output, past Python's, before it can be told not to."""
    sys.stdout.flush()
    saved = os.dup(1)
    try:
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - a device, not a path
            os.dup2(nowhere.fileno(), 1)
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def _highs_bound(highspy: Any, instance: Instance, time_limit: float = 20.0) -> float:
    """The bound of its linearisation, after `time_limit` seconds at the latest: no flattery."""
    with _without_banner():
        model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("time_limit", time_limit)
    model.setOptionValue("threads", 1)
    items = [model.addBinary() for _ in instance.values]
    total = sum(value * item for value, item in zip(instance.values.tolist(), items, strict=True))
    for i, j in np.argwhere(np.triu(instance.penalties) > 0).tolist():
        both = model.addVariable(0, 1)
        model.addConstr(both >= items[i] + items[j] - 1)
        total = total - float(instance.penalties[i, j]) * both
    weight = sum(int(cost) * item for cost, item in zip(instance.costs, items, strict=True))
    model.addConstr(weight <= instance.capacity)
    model.maximize(total)
    return float(model.getInfo().mip_dual_bound)


def text_pool(n: int = 100, words: int = 150, copies: float = 0.2) -> list[Candidate]:
    """`n` candidates of `words` words, a share `copies` of them lightly edited copies."""
    draws = np.random.default_rng(0)
    texts: list[list[str]] = []
    for _ in range(n):
        if texts and draws.random() < copies:
            text = list(texts[int(draws.integers(len(texts)))])
            for place in draws.integers(0, len(text), 10):
                text[place] = f"edit{draws.integers(1000)}"
        else:
            text = [f"word{number}" for number in draws.integers(0, 5000, words)]
        texts.append(text)
    return [Candidate(f"c{i:03}", 1 / (60 + i), " ".join(text)) for i, text in enumerate(texts)]
