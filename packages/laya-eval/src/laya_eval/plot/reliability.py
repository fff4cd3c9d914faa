"""The reliability diagram: what a probability says against how often it is true."""

from __future__ import annotations

from collections.abc import Sequence

from laya_eval.calibration import CalibrationBin, binned_error
from laya_eval.errors import MeasureError
from laya_eval.plot.frame import Frame, label, pixel

#: Pixels of the strip below the axes that shows how many cases each bin has.
_STRIP = 40


def reliability_svg(bins: Sequence[CalibrationBin], *, title: str) -> str:
    """Bars of the share of positive cases, a mark at each bin's mean probability, counts below.

    On the dashed diagonal a probability means what it says. DeGroot and Fienberg, The Statistician
    32 (1983). Raises `MeasureError` when all bins are empty.
    """
    total = sum(b.count for b in bins)
    if not total:
        raise MeasureError("a reliability diagram needs cases")
    frame = Frame(height=540)
    parts = [label("64", "28", title, style="title")]
    parts += frame.axes("predicted probability", "share that is answerable")
    right, bottom = frame.left + frame.side, frame.top + frame.side
    parts.append(f'<path class="guide" d="M{frame.left} {bottom}L{right} {frame.top}"/>')
    floor = bottom + 48 + _STRIP
    most = max(b.count for b in bins)
    for b in bins:
        if b.mean_probability is None or b.positive_share is None:
            continue
        x, width = frame.x(b.low), pixel((b.high - b.low) * frame.side)
        top = frame.y(b.positive_share)
        height = pixel(bottom - float(top))
        parts.append(f'<rect class="bar" x="{x}" y="{top}" width="{width}" height="{height}"/>')
        tall = b.count / most * _STRIP
        parts.append(
            f'<rect class="count" x="{x}" y="{pixel(floor - tall)}" width="{width}" '
            f'height="{pixel(tall)}"/>'
        )
        middle = frame.x((b.low + b.high) / 2)
        parts.append(label(middle, str(floor + 12), str(b.count), anchor="middle", style="small"))
    for b in bins:
        if b.mean_probability is not None and b.positive_share is not None:
            x, y = frame.x(b.mean_probability), frame.y(b.positive_share)
            parts.append(f'<circle class="mark" cx="{x}" cy="{y}" r="4"/>')
    error = binned_error(bins)
    note = f"ECE {error:.3f} over {len(bins)} bins, {total} cases; grey: cases in each bin"
    parts.append(label("64", str(floor + 28), note, style="quiet"))
    rows = "; ".join(
        f"{b.low:.2f} to {b.high:.2f}: mean {b.mean_probability:.2f}, "
        f"true {b.positive_share:.2f}, {b.count} cases"
        for b in bins
        if b.mean_probability is not None and b.positive_share is not None
    )
    description = (
        f"Reliability diagram of {total} cases, expected calibration error {error:.3f}. {rows}."
    )
    return frame.document(title, description, parts)
