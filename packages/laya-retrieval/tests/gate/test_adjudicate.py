"""Claims against passages."""

from laya_retrieval import Candidate, LayaGate, Support, Verdict, adjudicate
from laya_retrieval.testing import FakeDecisionModel

PASSAGES = [Candidate("a", 0.9, "acme earned revenue"), Candidate("b", 0.8, "bread recipe")]


def test_each_claim_gets_a_probability_and_its_passages():
    gate = LayaGate(model=FakeDecisionModel(), relevance_threshold=0.4, answerability_threshold=0.9)
    supported, doubtful, unknown = adjudicate(
        ["acme earned revenue", "acme earned bread money", "zebra crossing"], PASSAGES, gate
    )
    assert (supported.support, supported.probability) == (Support.SUPPORTED, 1.0)
    assert [c.id for c in supported.passages] == ["a"]
    assert (doubtful.support, doubtful.probability) == (Support.NOT_SUPPORTED, 0.5)
    assert (unknown.support, unknown.probability) == (Support.NOT_MEASURED, None)


def test_passages_may_be_retrieved_per_claim():
    asked = []

    def fetch(claim):
        asked.append(claim)
        return PASSAGES

    adjudicate(["one", "two"], fetch, LayaGate(model=FakeDecisionModel()))
    assert asked == ["one", "two"]


def test_a_gate_that_is_off_measures_no_claim():
    class Off:
        def judge(self, query, candidates):
            return Verdict.not_measured(candidates)

    [only] = adjudicate(["claim"], PASSAGES, Off())
    assert only.support is Support.NOT_MEASURED


def test_no_claims_give_nothing():
    assert adjudicate([], PASSAGES, LayaGate(model=FakeDecisionModel())) == []
