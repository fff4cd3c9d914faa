"""What a set of predictions is measured by."""

from __future__ import annotations

import pytest
from laya_eval.calibration import brier
from laya_eval.gate.labels import LabelledQuery
from laya_eval.gate.prediction import Prediction
from laya_eval.gate.scorecard import scorecard


def prediction(answerable, probability, found=None):
    return Prediction(LabelledQuery("q", "a?", answerable), probability, found)


CASES = [
    prediction(True, 0.9, True),
    prediction(True, 0.6, False),
    prediction(False, 0.4),
    prediction(False, None),
]


def test_a_query_that_never_reached_the_gate_is_refused_and_has_no_probability():
    card = scorecard(CASES, resamples=50)
    assert card.measures["accuracy"].value == 1.0
    assert card.measures["roc_auc"].value == 1.0
    assert card.measures["brier"].value == brier([0.9, 0.6, 0.4], [1, 1, 0])
    assert sum(b.count for b in card.bins) == 3
    assert (card.queries, card.answerable, card.unreached) == (4, 2, 1)
    assert card.curve.coverage[-1] == 1.0


def test_an_answerable_query_that_never_reached_the_gate_counts_against_it():
    card = scorecard([*CASES, prediction(True, None)], resamples=50)
    assert card.measures["accuracy"].value == 0.8
    assert card.measures["roc_auc"].value < 1


def test_evidence_recall_is_over_answerable_queries_with_documents():
    assert scorecard(CASES, resamples=5).evidence_recall == 0.5
    assert scorecard(CASES[2:], resamples=5).evidence_recall is None


def test_a_measure_without_a_meaning_is_not_a_number():
    card = scorecard([prediction(True, 0.9)] * 3, resamples=10)
    assert card.measures["roc_auc"].value is None
    assert card.measures["roc_auc"].interval is None
    assert card.measures["brier"].value == pytest.approx(0.01)


def test_a_gate_that_is_never_reached_has_no_calibration():
    card = scorecard([prediction(True, None), prediction(False, None)], resamples=10)
    assert card.measures["ece"].value is None
    assert card.measures["roc_auc"].value == 0.5
    assert card.bins == ()


def test_intervals_enclose_the_value():
    cases = [prediction(i % 2 == 0, 0.3 + (i % 3) * 0.2) for i in range(40)]
    for name, estimate in scorecard(cases, resamples=200).measures.items():
        if name != "ece":  # resampling adds noise that ECE counts as error: it is biased upwards
            assert estimate.interval.low <= estimate.value <= estimate.interval.high, name
