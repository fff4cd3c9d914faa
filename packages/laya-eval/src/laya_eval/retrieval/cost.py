"""What each system costs a query, on this machine now: the one part of a run that no check repeats.

Times differ from run to run, so they are kept out of the report, whose bytes do not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from laya_eval.bench.machine import machine
from laya_eval.bench.timing import Spent, in_turn, percentile
from laya_eval.bootstrap import Interval
from laya_eval.plot.cost_quality import Point, cost_quality_svg
from laya_eval.retrieval.evaluation import Evaluation, Measurement
from laya_eval.retrieval.systems import Contestants

PLOT = "cost-quality.svg"
NUMBERS = "cost-quality.json"

#: Queries that one system answers before the next one's turn.
_BLOCK = 10


@dataclass(frozen=True, slots=True)
class Cost:
    """Wall-clock milliseconds per query: the median, and what 95 of 100 queries stay below."""

    median_ms: float
    p95_ms: float


def timed_queries(measurement: Measurement, count: int) -> list[str]:
    """At most `count` of the measured queries, evenly spread over them."""
    queries = measurement.queries
    count = min(count, len(queries))
    return [queries[place * len(queries) // count] for place in range(count)]


def measure_costs(
    measurement: Measurement,
    evaluation: Evaluation,
    count: int,
    *,
    advance: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Cost and quality of every system as JSON, with the machine that it was measured on."""
    measure = measurement.settings.measures[0]
    queries = timed_queries(measurement, count)
    costs = time_systems(measurement, queries, advance=advance)
    return {
        "fingerprint": measurement.fingerprint,
        "corpus": measurement.corpus.identity,
        "machine": machine(),
        "queries": queries,
        "measure": measure,
        "systems": {
            name: {
                **asdict(cost),
                "mean": evaluation.systems[name].means[measure],
                "interval": asdict(evaluation.systems[name].intervals[measure]),
            }
            for name, cost in costs.items()
        },
    }


def time_systems(
    measurement: Measurement, queries: Sequence[str], *, advance: Callable[[], None]
) -> dict[str, Cost]:
    """System to its cost over `queries`; `advance` is called for each of them.

    Each system does all that it needs alone, from the words of the question to its ranking: the
    vectors and the legs, the fusion, the steps. None remembers what another one found. They take
    turns, so that what else the machine does disturbs all alike, after one query to warm up.
    """
    model = measurement.model
    shared = None if model is None else cache(model)
    calls: dict[str, Callable[[str], object]] = {}
    for system in measurement.contestants.systems:
        alone = measurement.build((system.name,), shared)
        legs = (system.base,) if system.is_leg else measurement.legs
        calls[system.name] = _call(measurement, alone, legs)
    texts = [measurement.judged.queries[query] for query in queries]
    for call in calls.values():
        call(texts[0])
    spent = {name: Spent() for name in calls}
    for start in range(0, len(texts), _BLOCK):
        block = texts[start : start + _BLOCK]
        for name, more in in_turn(calls, block, block=_BLOCK).items():
            spent[name].wall.extend(more.wall)
        for _ in block:
            advance()
    return {
        name: Cost(percentile(one.wall, 50), percentile(one.wall, 95))
        for name, one in spent.items()
    }


def cost_files(costs: Mapping[str, Any]) -> dict[str, str]:
    """The plot of cost against quality, and its numbers, from `cost_data`."""
    points = [
        Point(name, one["median_ms"], one["mean"], Interval(**one["interval"]))
        for name, one in costs["systems"].items()
    ]
    return {
        PLOT: cost_quality_svg(points, measure=costs["measure"]),
        NUMBERS: json.dumps(costs, ensure_ascii=False, indent=1) + "\n",
    }


def drop_costs(folder: Path) -> None:
    """Delete what an earlier run measured: it is not this run's."""
    for name in (PLOT, NUMBERS):
        (folder / name).unlink(missing_ok=True)


def _call(
    measurement: Measurement, system: Contestants, legs: Sequence[str]
) -> Callable[[str], object]:
    return lambda text: system.rank(text, measurement.search(text, legs))
