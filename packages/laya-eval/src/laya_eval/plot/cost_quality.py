"""Cost against quality: what a better ranking takes, system by system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from laya_eval.bootstrap import Interval
from laya_eval.errors import MeasureError
from laya_eval.plot.frame import Frame, label, pixel

#: Where a point's number may stand beside it, in pixels; the first place that is free is taken.
_PLACES = ((8, 4), (-14, 4), (8, -8), (8, 16), (-14, -8), (-14, 16), (20, 4), (-26, 4))

#: Numbers along the axis of cost that can still be read.
_MOST = 8


@dataclass(frozen=True, slots=True)
class Point:
    """One system: milliseconds per query, and a measure's mean with its interval."""

    name: str
    milliseconds: float
    mean: float
    interval: Interval


def cost_quality_svg(points: Sequence[Point], *, measure: str) -> str:
    """A mark for each system over a logarithmic axis of cost, its interval as a line through it.

    Both axes reach from a round number below all points to one above; the legend has the numbers.
    Raises `MeasureError` for no points, and for costs that are not above 0.
    """
    if not points or not all(0 < point.milliseconds < float("inf") for point in points):
        raise MeasureError("a plot of cost against quality needs systems with costs above 0")
    frame = Frame(height=480 + 18 * len(points))
    costs = _round_costs([point.milliseconds for point in points])
    levels = _round_levels(
        min(point.interval.low for point in points), max(point.interval.high for point in points)
    )
    first, last = log10(costs[0]), log10(costs[-1])

    def along(milliseconds: float) -> float:
        return (log10(milliseconds) - first) / (last - first)

    def up(value: float) -> float:
        return (value - levels[0]) / (levels[-1] - levels[0])

    title = f"Cost against {measure}"
    parts = [label("64", "28", title, style="title")]
    parts += frame.axes(
        "milliseconds per query",
        measure,
        [(along(cost), f"{cost:g}") for cost in costs],
        [(up(level), f"{level:.2f}") for level in levels],
    )
    taken: list[tuple[float, float]] = []
    notes: list[str] = []
    for number, point in enumerate(points, start=1):
        x, y = frame.x(along(point.milliseconds)), frame.y(up(point.mean))
        low, high = frame.y(up(point.interval.low)), frame.y(up(point.interval.high))
        parts.append(f'<path class="line" d="M{x} {low}V{high}"/>')
        parts.append(f'<circle class="mark" cx="{x}" cy="{y}" r="5"/>')
        taken.append((float(x) - 4, float(y) + 4))
        place = _free(float(x), float(y), taken)
        taken.append(place)
        parts.append(label(pixel(place[0]), pixel(place[1]), str(number)))
        notes.append(
            f"{number}  {point.name}: {point.milliseconds:.3g} ms, {point.mean:.3f} "
            f"({point.interval.low:.3f} to {point.interval.high:.3f})"
        )
    below = frame.top + frame.side + 60
    parts += [
        label("64", str(below + 18 * row), note, style="quiet") for row, note in enumerate(notes)
    ]
    description = (
        f"Milliseconds per query (median) against the mean of {measure} with its interval, by "
        f"system. {'; '.join(notes)}."
    )
    return frame.document(title, description, parts)


def _free(x: float, y: float, taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Where a number fits beside the point: where nothing else is, or else the first place."""
    places = [(x + right, y + down) for right, down in _PLACES]
    for place in places:
        if all(abs(place[0] - a) >= 12 or abs(place[1] - b) >= 11 for a, b in taken):
            return place
    return places[0]


def _round_costs(costs: Sequence[float]) -> list[float]:
    """Round numbers around all costs: 1, 2 and 5 times the powers of ten, or those alone."""
    # One more on each side: a logarithm may be rounded over a power of ten.
    powers = range(floor(log10(min(costs))) - 1, ceil(log10(max(costs))) + 2)
    for steps in ((1, 2, 5), (1,)):
        found = [float(f"{step}e{power}") for power in powers for step in steps]
        first = max(place for place, cost in enumerate(found) if cost <= min(costs))
        last = next(place for place, cost in enumerate(found) if cost >= max(costs))
        found = found[first : max(last, first + 1) + 1]
        if len(found) <= _MOST:
            break
    return found


def _round_levels(low: float, high: float) -> list[float]:
    """Round numbers around `low` to `high`: six of them at most, so that the axis can be read."""
    for step in (0.01, 0.02, 0.05, 0.1, 0.2):
        first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
        if first == last:
            first, last = (first - 1, last) if first > 0 else (0, 1)
        if last - first <= 6:
            break
    return [round(row * step, 2) for row in range(first, last + 1)]
