"""The risk–coverage plot: how much of what is answered should not be, by share answered."""

from __future__ import annotations

import numpy as np

from laya_eval.plot.frame import Frame, label
from laya_eval.risk import RiskCoverage


def risk_coverage_svg(
    curve: RiskCoverage, *, area: float, title: str, threshold: float | None = None
) -> str:
    """The curve, the risk of answering everything as a dashed line, and a mark at `threshold`.

    `area` is the area under the curve, which is written below it.
    """
    frame = Frame(height=500)
    base = float(curve.risk[-1])
    parts = [label("64", "28", title, style="title")]
    parts += frame.axes(
        "coverage: share of the questions answered", "risk: share of them unanswerable"
    )
    y = frame.y(base)
    parts.append(f'<path class="guide" d="M{frame.left} {y}H{frame.left + frame.side}"/>')
    path = "L".join(f"{frame.x(c)} {frame.y(r)}" for c, r in thinned(curve, frame.side))
    parts.append(f'<path class="line" d="M{path}"/>')
    said = f"Answering every question has risk {base:.2f}."
    marked = False
    if threshold is not None:
        above = np.flatnonzero(curve.confidence >= threshold)
        if len(above):
            marked = True
            coverage = float(curve.coverage[above[-1]])
            risk = float(curve.risk[above[-1]])
            x, y = frame.x(coverage), frame.y(risk)
            parts.append(f'<circle class="mark" cx="{x}" cy="{y}" r="5"/>')
            said += f" At threshold {threshold:.2f} coverage is {coverage:.2f} and risk {risk:.2f}."
    below = frame.top + frame.side + 60
    note = f"AURC {area:.3f}; dashed: answering everything, risk {base:.3f}"
    parts.append(label("64", str(below), note, style="quiet"))
    if marked:
        parts.append(label("64", str(below + 18), f"dot: threshold {threshold:.2f}", style="quiet"))
    description = f"Risk–coverage curve with an area of {area:.3f} under it. {said}"
    return frame.document(title, description, parts)


def thinned(curve: RiskCoverage, pixels: int) -> list[tuple[float, float]]:
    """The last point of the curve in each column of pixels: no more can be seen."""
    columns: dict[int, tuple[float, float]] = {}
    for coverage, risk in zip(curve.coverage.tolist(), curve.risk.tolist(), strict=True):
        columns[int(coverage * pixels)] = (coverage, risk)
    return list(columns.values())
