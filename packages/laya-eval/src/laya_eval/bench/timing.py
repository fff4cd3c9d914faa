"""Timing calls so that what else the machine does disturbs all sides alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def race(
    calls: Mapping[str, Callable[[], object]], *, rounds: int = 30, seconds: float = 0.02
) -> dict[str, float]:
    """The fastest round of every call, in milliseconds per call.

    Calls take turns, so that all of them meet the same disturbances, and the fastest of many short
    rounds is the one that other processes disturbed least.
    """
    number = {}
    for name, call in calls.items():
        call()
        number[name] = max(1, int(seconds / max(elapsed(call), 1e-9)))
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            started = time.perf_counter()
            for _ in range(number[name]):
                call()
            best[name] = min(best[name], (time.perf_counter() - started) / number[name])
    return {name: spent * 1e3 for name, spent in best.items()}


def elapsed(call: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def median_ms(work: Callable[[], object], repeats: int = 15) -> float:
    """The median wall-clock time of `work` in milliseconds, after one run to warm up."""
    work()
    return 1e3 * statistics.median(elapsed(work) for _ in range(repeats))


@dataclass(slots=True)
class Spent:
    """Milliseconds of each call: on the wall clock, and of this process's processors."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


def in_turn(
    calls: Mapping[str, Callable[[T], object]], items: Sequence[T], *, block: int = 10
) -> dict[str, Spent]:
    """What every call spends on every item; calls take turns, `block` items at a time.

    Turns, so that all of them meet the same disturbances; blocks, so that each finds its data in
    the processor's caches most of the time, as a system does that serves alone.
    """
    spent = {name: Spent() for name in calls}
    for start in range(0, len(items), block):
        for name, call in calls.items():
            for item in items[start : start + block]:
                began, before = time.perf_counter(), time.process_time()
                call(item)
                spent[name].wall.append(1e3 * (time.perf_counter() - began))
                spent[name].processor.append(1e3 * (time.process_time() - before))
    return spent


def percentile(values: Sequence[float], share: int) -> float:
    """The value below which `share` percent of them lie."""
    return float(np.percentile(values, share))
