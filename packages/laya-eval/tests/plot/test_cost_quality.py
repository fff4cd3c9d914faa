"""The plot of cost against quality."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_eval.bootstrap import Interval
from laya_eval.errors import MeasureError
from laya_eval.plot.cost_quality import Point, cost_quality_svg

SVG = "{http://www.w3.org/2000/svg}"
TWO = [
    Point("bm25 & <b>", 2.0, 0.65, Interval(0.6, 0.7, 0.95)),
    Point("rrf@60", 200.0, 0.75, Interval(0.7, 0.8, 0.95)),
]


def plot(points):
    return cost_quality_svg(points, measure="nDCG@10")


def test_it_says_what_it_shows():
    root = ElementTree.fromstring(plot(TWO))
    assert root.find(f"{SVG}title").text == "Cost against nDCG@10"
    said = root.find(f"{SVG}desc").text
    assert "1  bm25 & <b>: 2 ms, 0.650 (0.600 to 0.700)" in said
    assert "2  rrf@60: 200 ms, 0.750 (0.700 to 0.800)" in said
    notes = [element.text for element in root.iter(f"{SVG}text")]
    assert {"milliseconds per query", "nDCG@10", "2", "200", "0.60", "0.80"} <= set(notes)


def test_cost_is_logarithmic_and_the_interval_goes_through_the_mark():
    text = plot([*TWO, Point("mid", 20.0, 0.7, Interval(0.65, 0.75, 0.95))])
    marks = [(float(x), float(y)) for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', text)]
    xs = [x for x, _ in marks]
    assert xs[2] - xs[0] == pytest.approx(xs[1] - xs[2], abs=0.2)
    lines = re.findall(r'class="line" d="M([\d.]+) ([\d.]+)V([\d.]+)"', text)
    for (x, y), (line, low, high) in zip(marks, lines, strict=True):
        assert (float(line), (float(low) + float(high)) / 2) == pytest.approx((x, y), abs=0.2)


costs = st.floats(1e-3, 1e6)
shares = st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted)


@given(st.lists(st.tuples(costs, shares), min_size=1, max_size=12))
def test_every_mark_is_in_the_frame_and_every_axis_can_be_read(drawn):
    points = [
        Point(str(row), cost, mean, Interval(low, high, 0.95))
        for row, (cost, (low, mean, high)) in enumerate(drawn)
    ]
    root = ElementTree.fromstring(plot(points))
    marks = list(root.iter(f"{SVG}circle"))
    assert len(marks) == len(points)
    for mark in marks:
        assert 64 <= float(mark.get("cx")) <= 424
        assert 48 <= float(mark.get("cy")) <= 408
    quiet = [e for e in root.iter(f"{SVG}text") if e.get("class") == "quiet"]
    across = [e for e in quiet if e.get("text-anchor") == "middle"]
    upright = [e for e in quiet if e.get("text-anchor") == "end"]
    assert 2 <= len(across) <= 11
    assert 2 <= len(upright) <= 7
    assert len({e.text for e in upright}) == len(upright)
    assert plot(points) == plot(points)


def test_numbers_do_not_stand_on_each_other():
    points = [Point(str(n), 10.0, 0.5, Interval(0.4, 0.6, 0.95)) for n in range(4)]
    root = ElementTree.fromstring(plot(points))
    numbers = [
        (float(e.get("x")), float(e.get("y")))
        for e in root.iter(f"{SVG}text")
        if e.text in {"1", "2", "3", "4"} and e.get("class") is None
    ]
    assert len(set(numbers)) == len(numbers) == 4


@pytest.mark.parametrize("wrong", [[], [0.0], [-1.0], [float("nan")], [float("inf")]])
def test_what_cannot_be_drawn_is_refused(wrong):
    with pytest.raises(MeasureError, match="costs above 0"):
        plot([Point("a", cost, 0.5, Interval(0.4, 0.6, 0.95)) for cost in wrong])
