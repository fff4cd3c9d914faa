"""Several risk–coverage curves in one plot."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from laya_eval.plot.risk_curves import risk_curves_svg
from laya_eval.risk import risk_coverage

SVG = "{http://www.w3.org/2000/svg}"
P = np.random.default_rng(0).random(200)
LOSS = np.random.default_rng(1).random(200) > P


def curves(count):
    one = risk_coverage(P, LOSS)
    flat = risk_coverage(np.full(200, 0.5), LOSS)
    return {f"gate {n} & <b>": one if n % 2 == 0 else flat for n in range(count)}


def plot(count=3):
    return risk_curves_svg(curves(count), title="coast", risk="risk")


def test_each_curve_is_drawn_named_and_said():
    root = ElementTree.fromstring(plot())
    lines = [path for path in root.iter(f"{SVG}path") if path.get("class") in ("line", "axis")]
    looks = {(path.get("class"), path.get("stroke-dasharray")) for path in lines}
    assert len(lines) == 6
    assert len(looks) == 3
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert all(name in texts for name in curves(3))
    said = root.find(f"{SVG}desc").text
    assert (
        f"gate 1 & <b>: risk {LOSS.mean():.2f} at half coverage, {LOSS.mean():.2f} at full" in said
    )


def test_more_curves_than_can_be_told_apart_are_refused():
    with pytest.raises(ValueError, match="at most 6 curves"):
        plot(7)
