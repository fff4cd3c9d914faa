"""Several gates' risk–coverage curves in one plot."""

from __future__ import annotations

from collections.abc import Mapping

from laya_eval.plot.frame import Frame, label, pixel
from laya_eval.plot.risk_coverage import thinned
from laya_eval.risk import RiskCoverage

#: One class of line and one pattern of dashes for each curve, so that colour alone tells nothing.
_STYLES = (
    ("line", ""),
    ("line", "8 4"),
    ("line", "2 3"),
    ("axis", ""),
    ("axis", "8 4"),
    ("axis", "2 3"),
)


def risk_curves_svg(curves: Mapping[str, RiskCoverage], *, title: str, risk: str) -> str:
    """The curves by name, at most six, with a legend; `risk` says what the vertical axis counts.

    A curve that begins late answers its first cases together, since they are equally sure.
    """
    if len(curves) > len(_STYLES):
        raise ValueError(f"at most {len(_STYLES)} curves can be told apart, not {len(curves)}")
    frame = Frame(height=500 + 18 * len(curves))
    parts = [label("64", "28", title, style="title")]
    parts += frame.axes("coverage: share of the questions answered", risk)
    said: list[str] = []
    below = frame.top + frame.side + 60
    for number, (name, curve) in enumerate(curves.items()):
        style, dashes = _STYLES[number]
        drawn = f'class="{style}"' + (f' stroke-dasharray="{dashes}"' if dashes else "")
        points = thinned(curve, frame.side)
        path = "L".join(f"{frame.x(c)} {frame.y(r)}" for c, r in points)
        parts.append(f'<path {drawn} d="M{path}"/>')
        y = pixel(below + 18 * number)
        parts.append(f'<path {drawn} d="M64 {pixel(float(y) - 4)}h32"/>')
        parts.append(label("104", y, name))
        half = next(r for c, r in points if c >= 0.5)
        said.append(f"{name}: risk {half:.2f} at half coverage, {points[-1][1]:.2f} at full")
    return frame.document(title, f"Risk–coverage curves. {'; '.join(said)}.", parts)
