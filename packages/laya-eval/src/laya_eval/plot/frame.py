"""The frame that every plot shares: a unit square with axes, a title, and words for a reader.

The bytes of a plot depend on its numbers alone. Colours are classes of a style sheet inside the
file, which follows the reader's light or dark scheme; a renderer that knows no media queries shows
the light one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_STYLE = """\
    text { font: 12px system-ui, sans-serif; fill: #1f2328 }
    .ground { fill: #ffffff }
    .title { font-size: 15px; font-weight: 600 }
    .small { font-size: 9px }
    .quiet { fill: #59636e }
    .axis { stroke: #59636e; fill: none }
    .grid { stroke: #d1d9e0 }
    .guide { stroke: #59636e; stroke-dasharray: 5 4; fill: none }
    .bar { fill: #0969da; fill-opacity: 0.22; stroke: #0969da }
    .loss { fill: #bc4c00; fill-opacity: 0.22; stroke: #bc4c00 }
    .count { fill: #818b98 }
    .line { stroke: #0969da; stroke-width: 2; fill: none }
    .mark { fill: #bc4c00; stroke: #ffffff }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc }
      .ground { fill: #0d1117 }
      .quiet { fill: #9198a1 }
      .axis { stroke: #9198a1 }
      .grid { stroke: #3d444d }
      .guide { stroke: #9198a1 }
      .bar { fill: #4493f8; stroke: #4493f8 }
      .loss { fill: #f0883e; stroke: #f0883e }
      .count { fill: #656c76 }
      .line { stroke: #4493f8 }
      .mark { fill: #f0883e; stroke: #0d1117 }
    }"""


@dataclass(frozen=True, slots=True)
class Frame:
    """A plot area whose data coordinates are 0..1 both ways, in pixels of the image."""

    width: int = 480
    height: int = 480
    left: int = 64
    top: int = 48
    side: int = 360

    def x(self, value: float) -> str:
        """The pixel of a horizontal data coordinate."""
        return pixel(self.left + value * self.side)

    def y(self, value: float) -> str:
        """The pixel of a vertical data coordinate; 0 is at the bottom."""
        return pixel(self.top + (1 - value) * self.side)

    def axes(
        self,
        horizontal: str,
        vertical: str,
        ticks: Sequence[tuple[float, str]] | None = None,
        rises: Sequence[tuple[float, str]] | None = None,
    ) -> list[str]:
        """Grid, border, tick labels and axis titles.

        `ticks` are places and labels of the horizontal axis where it is not 0..1 itself, `rises`
        those of the vertical one.
        """
        right, bottom = self.left + self.side, self.top + self.side
        parts: list[str] = []
        fifths = [(step / 5, f"{step / 5:.1f}") for step in range(6)]
        for value, text in fifths if ticks is None else ticks:
            x = self.x(value)
            parts.append(f'<path class="grid" d="M{x} {self.top}V{bottom}"/>')
            parts.append(label(x, str(bottom + 16), text, anchor="middle", style="quiet"))
        for value, text in fifths if rises is None else rises:
            y = self.y(value)
            parts.append(f'<path class="grid" d="M{self.left} {y}H{right}"/>')
            parts.append(
                label(
                    str(self.left - 8),
                    pixel(float(y) + 4),
                    text,
                    anchor="end",
                    style="quiet",
                )
            )
        parts.append(
            f'<rect class="axis" x="{self.left}" y="{self.top}" '
            f'width="{self.side}" height="{self.side}"/>'
        )
        middle = self.left + self.side // 2
        parts.append(label(str(middle), str(bottom + 36), horizontal, anchor="middle"))
        half = self.top + self.side // 2
        parts.append(
            f'<text text-anchor="middle" transform="translate(20 {half}) rotate(-90)">'
            f"{escape(vertical)}</text>"
        )
        return parts

    def document(self, title: str, description: str, parts: Sequence[str]) -> str:
        """The whole SVG file; `description` is what a screen reader says."""
        body = "\n".join(f"  {part}" for part in parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" '
            'aria-labelledby="title description">\n'
            f'  <title id="title">{escape(title)}</title>\n'
            f'  <desc id="description">{escape(description)}</desc>\n'
            f"  <style>\n{_STYLE}\n  </style>\n"
            f'  <rect class="ground" width="{self.width}" height="{self.height}"/>\n'
            f"{body}\n"
            "</svg>\n"
        )


def pixel(value: float) -> str:
    """A coordinate with one decimal at most."""
    return f"{value:.1f}".removesuffix(".0")


def label(x: str, y: str, text: str, *, anchor: str = "start", style: str = "") -> str:
    """A text element."""
    kind = f' class="{style}"' if style else ""
    return f'<text{kind} x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
