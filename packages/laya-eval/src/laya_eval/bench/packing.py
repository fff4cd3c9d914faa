"""How close packing comes to the optimum, and how long it takes.

`python -m laya_eval.bench.packing` packs random instances of 100 candidates and compares each
with HiGHS, an exact solver (`uv run --with highspy …`; without it only times are printed). With
`--tokenizer FILE --texts FILE…` it also measures the heuristic token counter against a real one.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from laya_retrieval.candidate import Candidate
from laya_retrieval.process.knapsack import solve
from laya_retrieval.process.pack import Packer
from laya_retrieval.tokens import heuristic_tokens

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A quadratic knapsack of n items: (n,) values and costs, a capacity, (n, n) penalties."""

    values: Floats
    costs: Ints
    capacity: int
    penalties: Floats


@dataclass(frozen=True, slots=True)
class Comparison:
    """One instance: objective ÷ the solver's upper bound (1.0 is optimal), and both times.

    `ratio` and `solver_ms` are None without the solver. Times are wall-clock milliseconds.
    """

    ratio: float | None
    exact: bool
    packer_ms: float
    solver_ms: float | None


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


def compare(instance: Instance, time_limit: float = 20.0) -> Comparison:
    """Solve an instance with ours and, when highspy is installed, with HiGHS.

    The bound of HiGHS is that of its linearisation, after `time_limit` seconds at the latest, so
    the ratio never flatters.
    """
    started = time.perf_counter()
    solution = solve(instance.values, instance.costs, instance.capacity, instance.penalties)
    packer_ms = (time.perf_counter() - started) * 1000
    try:
        highspy = import_module("highspy")
    except ImportError:
        return Comparison(None, solution.exact, packer_ms, None)
    started = time.perf_counter()
    bound = _highs_bound(highspy, instance, time_limit)
    solver_ms = (time.perf_counter() - started) * 1000
    return Comparison(solution.objective / bound, solution.exact, packer_ms, solver_ms)


def _highs_bound(highspy: Any, instance: Instance, time_limit: float) -> float:
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


def median_ms(work: Callable[[], object], repeats: int = 15) -> float:
    """The median wall-clock time of `work` in milliseconds, after one run to warm up."""
    work()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def heuristic_error(tokenizer: Path, texts: Sequence[Path], characters: int = 1500) -> list[float]:
    """Heuristic ÷ real tokens for each piece of `characters` characters of the texts."""
    real = import_module("tokenizers").Tokenizer.from_file(str(tokenizer))
    real.no_truncation()
    real.no_padding()
    ratios = []
    for path in texts:
        text = path.read_text(encoding="utf-8")
        for start in range(0, len(text), characters):
            piece = text[start : start + characters]
            tokens = len(real.encode(piece, add_special_tokens=False).ids)
            if tokens:
                ratios.append(heuristic_tokens(piece) / tokens)
    return ratios


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the comparison with the exact solver, then the time of whole packs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=4, help="random instances per row")
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json to count against")
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="text files to count")
    options = parser.parse_args(arguments)
    write = sys.stdout.write

    write("100 candidates; objective / upper bound of HiGHS (1.0 = optimal)\n")
    write("density  budget  exact   worst     mean  ours ms  HiGHS ms\n")
    for density in (0.0, 0.01, 0.03, 0.1):
        for share in (0.1, 0.3):
            rows = [
                compare(random_instance(seed, density, share)) for seed in range(options.instances)
            ]
            ratios = [row.ratio for row in rows if row.ratio is not None]
            solver = [row.solver_ms for row in rows if row.solver_ms is not None]
            write(
                f"{density:7.2f}  {share:5.0%}  {sum(row.exact for row in rows):>2}/{len(rows)}"
                f"  {min(ratios, default=float('nan')):7.5f}"
                f"  {statistics.fmean(ratios) if ratios else float('nan'):7.5f}"
                f"  {statistics.median(row.packer_ms for row in rows):7.1f}"
                f"  {statistics.median(solver) if solver else float('nan'):8.1f}\n"
            )

    pool = text_pool()
    for budget in (1000, 4000, 100_000):
        packer = Packer(budget=budget)
        result = packer.pack("q", pool)
        taken = median_ms(lambda packer=packer: packer.pack("q", pool))  # type: ignore[misc]
        write(
            f"Packer(budget={budget}) on 100 texts of 150 words: {taken:.1f} ms, "
            f"{len(result.candidates)} packed, {result.method}\n"
        )

    if options.tokenizer:
        ratios = heuristic_error(options.tokenizer, options.texts)
        spread = statistics.quantiles(ratios, n=20)
        write(
            f"heuristic / real tokens over {len(ratios)} pieces: "
            f"mean {statistics.fmean(ratios):.3f}, 5 % {spread[0]:.3f}, 95 % {spread[-1]:.3f}\n"
        )


if __name__ == "__main__":
    main()
