"""From probabilities to the figures of each gate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_eval.gate.labels import LabelledQuery
from laya_eval.study.decisions import measuring
from laya_eval.study.decisions.judging import Asked
from laya_eval.study.decisions.measuring import deal, measured_corpus, measured_pairs
from laya_eval.study.decisions.settings import FEATURES, StudySettings

SETTINGS = StudySettings(resamples=20, permutations=50)
LABELS = tuple(
    LabelledQuery(f"q{n}", f"q{n}?", n % 2 == 0, f"g{n // 4}", ("d",) if n % 2 == 0 else ())
    for n in range(40)
)
JUDGED = frozenset(label.id for label in LABELS[:20])


def asked(label, **changes):
    sure = 0.9 if label.answerable else 0.2
    given = {
        "probability": sure,
        "shown": label.answerable,
        "found": label.answerable,
        "features": [sure] * len(FEATURES),
        "sifted": [],
        "scores": {"bm25": sure},
    }
    return Asked(**{**given, **changes})


def measured(**changes):
    return measured_corpus(
        LABELS, JUDGED, {label.id: asked(label, **changes) for label in LABELS}, SETTINGS
    )


def value(card, name):
    return card.measures[name].value


def test_a_gate_that_knows_answers_nothing_wrong_at_half_coverage():
    outcome = measured()
    for gate, split in ((measuring.LAYA, "none"), (measuring.FEATURE, "whole groups")):
        card = outcome.card(gate, split)
        assert value(card, "roc_auc") == 1.0
        assert value(card, "wrong@0.5") == 0.0
        assert value(card, "wrong@0.8") == pytest.approx(6 / 16)
        assert value(card, "wrong@1") == 0.5
        assert value(card, "answered") == 0.5
        assert value(card, "wrong_answered") == 0.0
    assert value(outcome.card(measuring.LAYA, "none"), "ece") == pytest.approx(0.15)
    assert len(outcome.labels) == 20


def test_an_answer_without_the_document_is_wrong_though_the_corpus_has_it():
    outcome = measured(shown=False)
    assert value(outcome.card(measuring.LAYA, "none"), "wrong@0.5") == 1.0
    assert value(outcome.card(measuring.FEATURE, "random"), "wrong@0.5") == 0.0
    assert value(outcome.card(measuring.ALWAYS, "none"), "wrong@1") == 0.5
    outcome = measured(found=False)
    assert value(outcome.card(measuring.LAYA, "none"), "wrong@0.5") == 0.0
    assert value(outcome.card(measuring.FEATURE, "random"), "wrong@0.5") == 1.0
    assert value(outcome.card(measuring.ALWAYS, "none"), "wrong@1") == 1.0


def test_what_cannot_be_measured_says_why():
    outcome = measured()
    assert outcome.card(measuring.DENSE, "random") is None
    assert outcome.unmeasured[f"{measuring.DENSE}, random"] == "no question has what it needs"
    assert f"{measuring.SIFTED}, whole groups" in outcome.unmeasured


def test_a_question_that_the_model_was_not_reached_for_ranks_last():
    rows = {label.id: asked(label) for label in LABELS}
    rows["q0"] = asked(LABELS[0], probability=None, shown=False)
    card = measured_corpus(LABELS, JUDGED, rows, SETTINGS).card(measuring.LAYA, "none")
    assert card.scores.unreached == 1
    assert value(card, "answered") == 9 / 20
    assert value(card, "wrong@1") == 11 / 20


def test_the_feature_gate_is_fitted_on_questions_that_are_not_judged_too():
    rows = {label.id: asked(label) for label in LABELS}
    others = {
        label.id: asked(label, features=[0.5] * len(FEATURES))
        if label.id in JUDGED
        else rows[label.id]
        for label in LABELS
    }
    labels, judged = LABELS, JUDGED
    cards, unmeasured = measuring.transferred(
        {"others": (LABELS[20:], rows), "one class": (LABELS[::2], rows)},
        (labels, judged, others),
        "pipeline",
        SETTINGS,
    )
    assert list(cards) == ["others"]
    assert list(unmeasured) == ["one class"]
    assert value(cards["others"], "roc_auc") == 0.5  # all of the judged look alike
    assert len(cards["others"].scores.predictions) == 20


def test_pairs_have_the_gate_as_it_is_and_recalibrated():
    rows = {label.id: Asked(0.9 if label.answerable else 0.6) for label in LABELS}
    outcome = measured_pairs(LABELS, rows, SETTINGS)
    as_it_is = outcome.card(measuring.LAYA, "none")
    again = outcome.card(measuring.RECALIBRATED, "whole groups")
    assert value(as_it_is, "ece") > 0.3
    assert value(again, "ece") < 0.3
    assert value(again, "roc_auc") == 1.0


def test_a_difference_is_one_of_wrong_answers_per_answer():
    rows = {
        label.id: asked(label, scores={"bm25": 1.0 + int(label.id[1:]) % 3}) for label in LABELS
    }
    outcome = measured_corpus(LABELS, JUDGED, rows, SETTINGS)
    found = measuring.compared({"coast": outcome}, SETTINGS)
    one = found["coast", measuring.LAYA, measuring.BM25]
    gate = outcome.card(measuring.LAYA, "none")
    score = outcome.card(measuring.BM25, "whole groups")
    assert one.difference == pytest.approx(value(score, "wrong@0.8") - value(gate, "wrong@0.8"))
    assert measuring.compared({}, SETTINGS) == {}


@pytest.mark.parametrize("reached", range(6))
def test_ties_that_change_no_answer_are_no_difference(reached):
    rows = {label.id: asked(label) for label in LABELS[:30]}
    for label in [label for label in LABELS[:30] if not label.answerable][reached:]:
        rows[label.id] = asked(label, probability=None)
    outcome = measured_corpus(LABELS[:30], frozenset(rows), rows, SETTINGS)
    one = measuring.compared({"c": outcome}, SETTINGS)["c", measuring.LAYA, measuring.BM25]
    assert (one.difference, one.p, one.ties) == (0.0, 1.0, 30)


@given(
    st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=80),
    st.integers(2, 6),
)
def test_a_group_is_dealt_whole_and_the_same_way(rows, folds):
    groups = [f"g{group}" for group, _ in rows]
    outcomes = [outcome for _, outcome in rows]
    found = deal(groups, outcomes, folds)
    assert found == deal(groups, outcomes, folds)
    assert all(0 <= fold < folds for fold in found)
    assert len(set(zip(groups, found, strict=True))) == len(set(groups))


def test_groups_of_one_class_are_spread_over_the_folds():
    groups = [f"g{n // 5}" for n in range(200)]
    outcomes = [n // 5 % 2 == 0 for n in range(200)]
    found = deal(groups, outcomes, 5)
    for fold in range(5):
        mine = [outcome for outcome, at in zip(outcomes, found, strict=True) if at == fold]
        assert (len(mine), sum(mine)) == (40, 20)
