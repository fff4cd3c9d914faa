"""The NLI gate."""

import math

import pytest
from laya_retrieval import Candidate, GateError, GateState, NliGate
from laya_signals import ConfigError

POOL = [Candidate("a", 0.9, "no"), Candidate("b", 0.8, "yes")]


class Entails:
    """Entailment where the passage says yes."""

    def __init__(self, logits=None):
        self.logits = logits
        self.pairs = []

    def predict(self, sentences):
        self.pairs = list(sentences)
        if self.logits is not None:
            return self.logits
        return [[0.0, 3.0 if text == "yes" else -3.0, 0.0] for text, _ in sentences]


def test_the_best_entailment_answers():
    verdict = NliGate(model=Entails()).judge("why?", POOL)
    assert verdict.answerability == pytest.approx(math.exp(3) / (math.exp(3) + 2))
    assert verdict.answerable
    assert [c.id for c in verdict.kept] == ["b"]
    assert [c.id for c in verdict.dropped] == ["a"]


def test_passages_are_premises_of_a_statement_about_the_query():
    model = Entails()
    NliGate(model=model, hypothesis="It says {query}").judge("{x} why?", POOL[:1])
    assert model.pairs == [("no", "It says {x} why?")]


def test_no_candidates_are_not_measured():
    assert NliGate(model=Entails()).judge("q", []).state is GateState.GATE_NOT_REACHED


@pytest.mark.parametrize("logits", [[1.0, 2.0], [[1, 2]] * 2, [[float("nan"), 0, 0]] * 2, "x"])
def test_other_outputs_are_an_error(logits):
    with pytest.raises(GateError):
        NliGate(model=Entails(logits)).judge("q", POOL)


@pytest.mark.parametrize(
    "settings", [{"labels": ("a", "b")}, {"hypothesis": "no placeholder"}, {"model": None}]
)
def test_settings_that_cannot_work_are_refused(settings):
    model = None if "model" in settings else Entails()
    settings.pop("model", None)
    with pytest.raises(ConfigError):
        NliGate(model=model, **settings)
