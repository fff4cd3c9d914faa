"""The calibrated gate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval import Candidate, GateError, GateState, LayaGate, Verdict
from laya_retrieval.testing import FakeDecisionModel
from laya_signals import ConfigError

POOL = [
    Candidate("low", 0.9, "0.2"),
    Candidate("high", 0.8, "0.9"),
    Candidate("edge", 0.7, "0.5"),
]


def reads_the_document(state, question):
    if question["id"] == "answerability":
        return 0.75
    return float(state["document"])


def gate(**settings):
    return LayaGate(model=FakeDecisionModel(reads_the_document), **settings)


def test_the_relevant_ones_stay_in_their_incoming_order():
    kept = gate().process("q", POOL)
    assert [(c.id, c.score, c.metadata["laya_relevance"]) for c in kept] == [
        ("high", 0.8, 0.9),
        ("edge", 0.7, 0.5),
    ]


def test_order_relevance_sorts_by_probability_which_becomes_the_score():
    kept = gate(order="relevance", relevance_threshold=0.1).process("q", POOL)
    assert [(c.id, c.score) for c in kept] == [("high", 0.9), ("edge", 0.5), ("low", 0.2)]


def test_a_verdict_says_what_it_rests_on():
    verdict = gate(answerability_threshold=0.8).judge("q", POOL)
    assert verdict.state is GateState.MEASURED
    assert (verdict.answerable, verdict.answerability) == (False, 0.75)
    assert [c.id for c in verdict.kept] == ["high", "edge"]
    assert [(c.id, c.metadata["laya_relevance"]) for c in verdict.dropped] == [("low", 0.2)]
    assert (verdict.relevance_threshold, verdict.answerability_threshold) == (0.5, 0.8)
    assert [q["id"] for q in verdict.questions] == ["relevance", "answerability"]
    assert verdict.model_fingerprint == "fake0000fake0000"
    funnel = verdict.funnel
    assert (funnel.considered, funnel.dropped_before_scoring, funnel.scored) == (3, 0, 3)
    assert (funnel.below_relevance, funnel.kept) == (1, 2)


def test_when_nothing_is_relevant_the_model_is_never_asked():
    verdict = gate(relevance_threshold=0.95).judge("q", POOL)
    assert verdict.state is GateState.GATE_NOT_REACHED
    assert verdict.answerable is None
    assert verdict.answerability is None
    assert [q["id"] for q in verdict.questions] == ["relevance"]


def test_no_candidates_ask_nobody():
    model = FakeDecisionModel()
    verdict = LayaGate(model=model).judge("q", [])
    assert verdict.state is GateState.GATE_NOT_REACHED
    assert verdict.model_fingerprint is None
    assert model.calls == []


def test_a_gate_that_is_off_measures_nothing():
    assert gate(answerability=False).judge("q", POOL).state is GateState.NOT_MEASURED
    verdict = Verdict.not_measured(POOL)
    assert verdict.kept == tuple(POOL)
    assert verdict.answerability is None


def test_a_probability_of_zero_is_measured():
    model = FakeDecisionModel(lambda state, question: 1.0 if "document" in state else 0.0)
    verdict = LayaGate(model=model).judge("q", POOL)
    assert (verdict.state, verdict.answerable) == (GateState.MEASURED, False)
    assert verdict.answerability == 0.0


def test_the_cascade_scores_only_the_first_m():
    model = FakeDecisionModel(reads_the_document)
    verdict = LayaGate(model=model, top_m=2).judge("q", POOL)
    assert len(model.calls[0][0]) == 2
    assert verdict.funnel.dropped_before_scoring == 1
    assert [c.id for c in verdict.dropped] == ["low", "edge"]
    assert "laya_relevance" not in verdict.dropped[1].metadata


def test_all_candidates_are_asked_about_in_one_call():
    model = FakeDecisionModel(reads_the_document)
    LayaGate(model=model).judge("q", POOL)
    states, questions = model.calls[0]
    assert states == [{"query": "q", "document": c.text} for c in POOL]
    assert [q["type"] for q in questions] == ["noul"]
    assert model.calls[1][0] == [{"query": "q", "evidence": "0.9\n\n0.5"}]
    assert len(model.calls) == 2


def test_the_evidence_shown_can_be_bounded():
    model = FakeDecisionModel(reads_the_document)
    LayaGate(model=model, evidence_top_k=1).judge("q", POOL)
    assert model.calls[1][0] == [{"query": "q", "evidence": "0.9"}]


def test_a_bridge_travels_with_every_relevance_question():
    model = FakeDecisionModel(reads_the_document)
    LayaGate(model=model, bridge="found before").process("q", POOL)
    assert model.calls[0][0][0] == {"query": "q", "bridge": "found before", "document": "0.2"}


@pytest.mark.parametrize(
    "answer",
    [
        [],
        [{"answers": {}}] * 3,
        [{"answers": {"relevance": {"noul": 1.5}}}] * 3,
        [{"answers": {"relevance": {"noul": float("nan")}}}] * 3,
        [{"answers": {"relevance": {"noul": None}}}] * 3,
        [{}] * 3,
    ],
)
def test_an_answer_that_is_none_is_an_error(answer):
    class Broken:
        def predict_batch(self, states, questions):
            return answer

    with pytest.raises(GateError, match="Broken"):
        LayaGate(model=Broken()).process("q", POOL)


def test_the_error_names_the_candidate():
    with pytest.raises(GateError, match="'high'"):
        LayaGate(
            model=FakeDecisionModel(lambda s, q: 0.5 if s["document"] != "0.9" else 7)
        ).process("q", POOL)


def test_a_model_is_needed():
    with pytest.raises(ConfigError, match="model="):
        LayaGate()
    with pytest.raises(ConfigError, match="model="):
        LayaGate(model=object())


def test_models_without_a_fingerprint_are_told_apart_by_class():
    class Anonymous:
        def predict_batch(self, states, questions):
            return [{"answers": {q["id"]: {"noul": 0.5} for q in questions}} for _ in states]

    class Other(Anonymous):
        pass

    assert LayaGate(model=Anonymous()).fingerprint != LayaGate(model=Other()).fingerprint


@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0, 1))
def test_the_funnel_adds_up_and_nothing_gets_lost(probabilities, threshold):
    pool = [Candidate(f"c{i}", 1.0, repr(p)) for i, p in enumerate(probabilities)]
    verdict = gate(relevance_threshold=threshold, top_m=5).judge("q", pool)
    funnel = verdict.funnel
    assert funnel.considered == funnel.dropped_before_scoring + funnel.scored
    assert funnel.scored == funnel.below_relevance + funnel.kept
    assert {c.id for c in (*verdict.kept, *verdict.dropped)} == {c.id for c in pool}
    assert [c.id for c in verdict.kept] == [
        c.id for c, p in zip(pool[:5], probabilities[:5], strict=True) if p >= threshold
    ]


def test_the_model_reads_a_passage_under_its_title():
    model = FakeDecisionModel(noul=lambda state, question: 0.9)
    pool = [
        Candidate("a", 1.0, "It is struck by hand.", {"title": "The fog bell"}),
        Candidate("b", 0.5, "The ferry leaves at noon."),
    ]
    LayaGate(model=model).judge("who strikes the bell", pool)
    (documents, _), (evidence, _) = model.calls
    assert [state["document"] for state in documents] == [
        "The fog bell\nIt is struck by hand.",
        "The ferry leaves at noon.",
    ]
    assert evidence[0]["evidence"] == (
        "The fog bell\nIt is struck by hand.\n\nThe ferry leaves at noon."
    )
    alone = FakeDecisionModel(noul=lambda state, question: 0.9)
    LayaGate(model=alone, title_key=None).process("who strikes the bell", pool)
    assert alone.calls[0][0][0]["document"] == "It is struck by hand."


def test_the_verdict_is_on_what_is_selected():
    model = FakeDecisionModel(noul=lambda state, question: 0.9)
    pool = [Candidate(name, 1.0, name) for name in ("a", "b", "c")]
    verdict = LayaGate(model=model).judge("q", pool, select=lambda kept: [kept[2], kept[0]])
    assert [candidate.id for candidate in verdict.kept] == ["a", "b", "c"]
    assert model.calls[-1][0] == [{"query": "q", "evidence": "c\n\na"}]


def test_where_nothing_is_selected_nothing_is_asked():
    model = FakeDecisionModel(noul=lambda state, question: 0.9)
    verdict = LayaGate(model=model).judge("q", [Candidate("a", 1.0, "a")], select=lambda kept: [])
    assert verdict.state is GateState.GATE_NOT_REACHED
    assert len(model.calls) == 1
    assert [candidate.id for candidate in verdict.kept] == ["a"]
