"""The plots are valid, reproducible SVG that says what it shows."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from laya_eval.calibration import calibration_bins
from laya_eval.errors import MeasureError
from laya_eval.plot.reliability import reliability_svg
from laya_eval.plot.risk_coverage import risk_coverage_svg
from laya_eval.risk import aurc, risk_coverage

SVG = "{http://www.w3.org/2000/svg}"
P = np.random.default_rng(0).random(500)
Y = np.random.default_rng(1).random(500) < P


def reliability(title="A & B"):
    return reliability_svg(calibration_bins(P, Y), title=title)


def risk(threshold=0.5):
    return risk_coverage_svg(
        risk_coverage(P, 1 - Y), area=aurc(P, 1 - Y), title="A & B", threshold=threshold
    )


@pytest.mark.parametrize("plot", [reliability, risk])
def test_a_plot_is_xml_with_a_title_and_a_description(plot):
    root = ElementTree.fromstring(plot())
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "title description"
    assert root.find(f"{SVG}title").text == "A & B"
    assert len(root.find(f"{SVG}desc").text) > 40
    assert "prefers-color-scheme: dark" in root.find(f"{SVG}style").text


@pytest.mark.parametrize("plot", [reliability, risk])
def test_the_same_numbers_give_the_same_bytes(plot):
    assert plot() == plot()


@pytest.mark.parametrize("plot", [reliability, risk])
def test_nothing_is_drawn_outside_the_image(plot):
    root = ElementTree.fromstring(plot())
    height = float(root.get("height"))
    for element in root.iter():
        for name in ("y", "cy"):
            assert 0 <= float(element.get(name, 0)) <= height
        assert "nan" not in str(element.attrib)


def test_every_bin_has_its_count():
    texts = re.findall(r'<text class="small"[^>]*>(\d+)</text>', reliability())
    assert [int(t) for t in texts] == [b.count for b in calibration_bins(P, Y)]


def test_the_risk_plot_names_the_threshold_only_where_something_is_answered():
    assert "At threshold 0.50" in risk()
    assert "At threshold" not in risk(threshold=1.5)


def test_every_colour_of_the_light_scheme_has_a_dark_one():
    style = ElementTree.fromstring(risk()).find(f"{SVG}style").text
    light, dark = style.split("@media")
    coloured = set(re.findall(r"^\s*(\S+) \{[^}]*#", light, re.M))
    assert coloured == set(re.findall(r"^\s*(\S+) \{[^}]*#", dark, re.M))


def test_a_diagram_of_nothing_is_refused():
    with pytest.raises(MeasureError, match="needs cases"):
        reliability_svg((), title="none")
