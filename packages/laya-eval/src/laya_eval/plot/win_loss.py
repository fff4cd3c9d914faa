"""The win–loss plot: on how many queries one system beats another, and by how much."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laya_eval.errors import MeasureError
from laya_eval.plot.frame import Frame, label, pixel

_TICKS = tuple((step / 4, f"{step / 2 - 1:+.1f}" if step != 2 else "0") for step in range(5))


def win_loss_svg(differences: ArrayLike, *, name: str, baseline: str, measure: str) -> str:
    """The differences of a measure in 0..1, `(queries,)`, stacked from the worst to the best.

    Each query is a bar to the right where `name` is better, to the left where it is worse; the
    height of a colour is its share of the queries. Raises `MeasureError` for no differences, or
    one outside -1..1.
    """
    d = np.sort(np.asarray(differences, dtype=np.float64))
    if d.ndim != 1 or not len(d) or not bool(np.all(np.abs(d) <= 1)):
        raise MeasureError("a win–loss plot needs (queries,) differences in -1..1")
    frame = Frame(height=500)
    parts = [label("64", "28", f"{name} against {baseline}", style="title")]
    parts += frame.axes(
        f"difference in {measure}, query by query", "share of the queries", ticks=_TICKS
    )
    middle = frame.x(0.5)
    for style, rows in (("loss", np.flatnonzero(d < 0)), ("bar", np.flatnonzero(d > 0))):
        if len(rows):
            parts.append(f'<path class="{style}" d="{_steps(frame, d, rows)}"/>')
    parts.append(f'<path class="axis" d="M{middle} {frame.top}V{frame.top + frame.side}"/>')
    wins, losses = int(np.count_nonzero(d > 0)), int(np.count_nonzero(d < 0))
    note = f"{wins} won, {losses} lost, {len(d) - wins - losses} equal; mean {d.mean():+.4f}"
    parts.append(label("64", str(frame.top + frame.side + 60), note, style="quiet"))
    description = (
        f"{name} against {baseline} in {measure} over {len(d)} queries: {note}. "
        f"Worst {d[0]:+.2f}, median {np.median(d):+.2f}, best {d[-1]:+.2f}."
    )
    return frame.document(f"{name} against {baseline}", description, parts)


def _steps(frame: Frame, d: NDArray[np.float64], rows: NDArray[np.intp]) -> str:
    """The outline of the bars of `rows`, which lie on each other."""
    path = f"M{frame.x(0.5)} {frame.y(int(rows[0]) / len(d))}"
    for row in rows.tolist():
        path += f"H{frame.x((float(d[row]) + 1) / 2)}V{frame.y((row + 1) / len(d))}"
    return path + f"H{pixel(frame.left + frame.side / 2)}Z"
