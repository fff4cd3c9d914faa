"""From logits to answers."""

import numpy as np
import pytest
from laya_signals.decide import parse_questions
from laya_signals.decide.answer import Platt, answer, probabilities
from laya_signals.decide.temperature import bucket, clamped
from laya_signals.errors import ModelError


def question(kind, **more):
    return parse_questions([{"id": "q", "type": kind, "instructions": "x", **more}])[0]


def test_probabilities_are_the_softmax_at_a_temperature():
    logits = np.array([1.0, 3.0], np.float32)
    assert probabilities(logits, 2.0)[1] == pytest.approx(1 / (1 + np.exp(-1)))
    assert probabilities(np.array([1e30, 0], np.float32), 0.5).tolist() == [1, 0]
    with pytest.raises(ModelError, match="not finite"):
        probabilities(np.array([np.nan, 0], np.float32), 1.0)


def test_a_correction_acts_on_the_log_odds_after_the_temperature():
    logits = np.array([1.0, 3.0], np.float32)
    corrected = probabilities(logits, 2.0, Platt(slope=3, offset=-1))
    assert corrected[1] == pytest.approx(1 / (1 + np.exp(-2)))
    assert corrected.sum() == pytest.approx(1)


def test_each_type_has_its_answer():
    chances = np.array([0.2, 0.8])
    noul = answer(question("noul"), chances)
    assert (noul["type"], noul["noul"], noul["confidence"]) == ("noul", 0.8, 0.8)
    choice = answer(question("choice", options=["a", "b"]), chances)
    assert (choice["choice"], choice["probabilities"]) == ("b", {"a": 0.2, "b": 0.8})
    score = answer(question("score", options=["low", "high"]), chances)
    assert score["score"] == pytest.approx(0.8)
    assert score["legend"] == {"0": "low", "1": "high"}
    assert score["probabilities"] == {"0": 0.2, "1": 0.8}


@pytest.mark.parametrize(("chances", "expected"), [([0.5, 0.5], 0), ([1, 0], 1), ([1], 1)])
def test_confidence_is_how_far_from_a_guess_an_answer_is(chances, expected):
    options = [f"o{n}" for n in range(len(chances))]
    found = answer(question("choice", options=options), np.array(chances, np.float64))
    assert found["confidence"] == pytest.approx(expected)
    assert found["answer_confidence"] == max(chances)


def test_temperatures_are_clamped_and_looked_up_by_the_number_of_options():
    assert [clamped(t) for t in (0.1, 0.5, 2, 5, 99)] == [0.5, 0.5, 2, 5, 5]
    sizes = {1: "2", 2: "2", 3: "3-5", 5: "3-5", 6: "6-10", 10: "6-10", 11: "11+", 99: "11+"}
    assert {n: bucket("choice", n) for n in sizes} == {n: f"choice:{s}" for n, s in sizes.items()}
