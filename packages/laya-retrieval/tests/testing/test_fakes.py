"""The fakes refuse what the real thing refuses."""

import numpy as np
import pytest
from laya_retrieval import (
    Capability,
    FilterError,
    GraphSource,
    OrchestrationError,
    QueryBundle,
    RetrievalBackend,
)
from laya_retrieval.testing import (
    FakeBackend,
    FakeCrossEncoder,
    FakeDecisionModel,
    FakeGraphSource,
    FakeMultiVectorEmbedder,
)
from laya_signals.decide import DecisionModel
from laya_signals.multivector import MultiVectorEncoder

NOUL = {"id": "x", "type": "noul", "instructions": "It holds."}


def test_they_implement_their_seams():
    assert isinstance(FakeBackend(), RetrievalBackend)
    assert isinstance(FakeGraphSource([]), GraphSource)
    assert isinstance(FakeDecisionModel(), DecisionModel)
    assert isinstance(FakeMultiVectorEmbedder(), MultiVectorEncoder)


def test_the_backend_holds_the_specified_documents():
    documents = FakeBackend().documents
    assert [(d.id, round(d.score, 1), d.text) for d in documents] == [
        (f"d{i}", round(1 - i / 10, 1), f"doc {i} about revenue") for i in range(6)
    ]
    assert FakeBackend().capabilities == {Capability.BM25, Capability.DENSE, Capability.FILTER}


def test_the_backend_cuts_each_leg_to_the_depth():
    found = FakeBackend().search(QueryBundle(text="x", vector=[0.0] * 4, depth=2))
    assert {leg: [c.id for c in cs] for leg, cs in found.items()} == {
        "bm25": ["d0", "d1"],
        "dense": ["d0", "d1"],
    }


def test_the_backend_refuses_what_it_cannot_serve():
    with pytest.raises(OrchestrationError):
        FakeBackend().search(QueryBundle(vector=[1.0]))
    with pytest.raises(OrchestrationError):
        FakeBackend(capabilities={Capability.MULTIVECTOR}).search(QueryBundle(multivector=[[1.0]]))
    with pytest.raises(FilterError, match="unknown field 'x'"):
        FakeBackend().search(QueryBundle(text="q", filters={"x": 1}))
    with pytest.raises(OrchestrationError):
        FakeBackend(capabilities={Capability.BM25}).search(QueryBundle("q", filters={"x": 1}))


def test_the_cross_encoder_counts_the_words_of_the_query():
    scores = FakeCrossEncoder().predict([("revenue and tax", "Tax, and revenue?"), ("a", "b")])
    assert scores.tolist() == [3.0, 0.0]
    assert FakeCrossEncoder().predict([]).shape == (0,)


@pytest.mark.parametrize("pairs", [["text"], [("a",)], [("a", None)], [("a", "b", "c")]])
def test_the_cross_encoder_refuses_what_is_no_pair_of_texts(pairs):
    with pytest.raises(TypeError):
        FakeCrossEncoder().predict(pairs)


def test_token_vectors_are_unit_rows():
    vectors = FakeMultiVectorEmbedder().encode_query("revenue tax")
    assert vectors.shape == (2, 16)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 1.0])
    with pytest.raises(TypeError):
        FakeMultiVectorEmbedder().encode_query(None)


def test_the_decision_model_answers_with_the_share_of_shared_words():
    [decision] = FakeDecisionModel().predict_batch(
        [{"query": "tax law", "document": "Tax!"}], [NOUL]
    )
    assert decision == {"answers": {"x": {"noul": 0.5, "confidence": 0.5}}}
    assert FakeDecisionModel().predict_batch([], [NOUL]) == []


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [{"id": "x", "type": "noul"}],
        [{"type": "noul", "instructions": "i"}],
        [{**NOUL, "type": "essay"}],
        [NOUL, NOUL],
        [{**NOUL, "id": ""}],
    ],
)
def test_the_decision_model_refuses_malformed_questions(questions):
    with pytest.raises(ValueError, match="question"):
        FakeDecisionModel().predict_batch(["state"], questions)


def test_the_decision_model_refuses_a_state_that_is_none():
    with pytest.raises(ValueError, match="state"):
        FakeDecisionModel().predict_batch([None], [NOUL])
