"""The win–loss plot."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from laya_eval.errors import MeasureError
from laya_eval.plot.win_loss import win_loss_svg

SVG = "{http://www.w3.org/2000/svg}"


def plot(differences):
    return win_loss_svg(differences, name="new & <b>", baseline="old", measure="nDCG@10")


def test_it_says_what_it_shows():
    root = ElementTree.fromstring(plot([0.5, -0.25, 0.0, 1.0]))
    assert root.find(f"{SVG}title").text == "new & <b> against old"
    said = root.find(f"{SVG}desc").text
    assert "over 4 queries: 2 won, 1 lost, 1 equal; mean +0.3125" in said
    assert "Worst -0.25, median +0.25, best +1.00" in said


def test_each_colour_has_its_share_of_the_height():
    text = plot([0.5] * 3 + [-0.5])
    for style, low, high in (("loss", 408, 318), ("bar", 318, 48)):
        path = re.search(rf'class="{style}" d="(M[^"]*)"', text)[1]
        heights = [float(v) for v in re.findall(r"V([\d.]+)", path)]
        start = float(re.match(r"M\S+ ([\d.]+)", path)[1])
        assert (start, heights[-1]) == (low, high)


def test_the_order_of_the_queries_does_not_matter_and_one_colour_is_enough():
    d = np.random.default_rng(0).uniform(-1, 1, 50)
    assert plot(d) == plot(d[::-1])
    assert 'class="loss"' not in plot([0.1, 0.0])


@pytest.mark.parametrize("wrong", [[], [1.5], [float("nan")]])
def test_what_cannot_be_drawn_is_refused(wrong):
    with pytest.raises(MeasureError, match=r"differences in -1\.\.1"):
        plot(wrong)
