"""Reranking by a cross-encoder."""

import builtins

import numpy as np
import pytest
from laya_retrieval import Candidate, Reranker, RerankError
from laya_retrieval.testing import FakeCrossEncoder
from laya_signals import ConfigError, MissingExtraError


class Answers:
    """A model that returns what it was told to."""

    def __init__(self, answer):
        self.answer = answer

    def predict(self, sentences):
        return self.answer


def test_the_specified_example(reports):
    reranked = Reranker(model=FakeCrossEncoder()).process("revenue and tax", reports)
    assert [(c.id, c.score) for c in reranked] == [("a", 3.0), ("c", 3.0), ("b", 0.0)]


def test_all_candidates_go_in_one_batch_in_their_order(reports):
    model = FakeCrossEncoder()
    Reranker(model=model).process("q", reports)
    assert model.calls == [[("q", c.text) for c in reports]]


def test_an_empty_list_asks_nobody():
    model = FakeCrossEncoder()
    assert Reranker(model=model).process("q", []) == []
    assert model.calls == []


def test_nan_is_an_error_that_names_the_candidate(reports):
    with pytest.raises(RerankError, match="'b'"):
        Reranker(model=Answers([1.0, float("nan"), 2.0])).process("q", reports)


@pytest.mark.parametrize("answer", [[1.0, 2.0], [[1, 2]] * 3, 5.0, ["x", "y", "z"], None])
def test_the_wrong_number_of_scores_is_an_error(answer, reports):
    with pytest.raises(RerankError):
        Reranker(model=Answers(answer)).process("q", reports)


def test_one_column_of_scores_is_fine(reports):
    scores = np.array([[1.0], [3.0], [2.0]])
    assert [c.id for c in Reranker(model=Answers(scores)).process("q", reports)] == ["b", "c", "a"]


def test_blend_zero_keeps_the_incoming_order(reports):
    incoming = [reports[1], reports[2], reports[0]]
    reranked = Reranker(model=FakeCrossEncoder(), blend=0.0).process("revenue", incoming)
    assert [c.id for c in reranked] == ["b", "c", "a"]


def test_blend_fuses_both_orders(reports):
    model = Answers([1.0, 2.0, 3.0])
    reranked = Reranker(model=model, blend=0.75, k=1).process("q", reports)
    expected = {
        "a": 0.75 / 4 + 0.25 / 2,
        "b": 0.75 / 3 + 0.25 / 3,
        "c": 0.75 / 2 + 0.25 / 4,
    }
    assert {c.id: c.score for c in reranked} == pytest.approx(expected)


def test_without_a_model_it_cannot_be_built():
    with pytest.raises(ConfigError, match="model="):
        Reranker()


def test_a_model_must_predict():
    with pytest.raises(ConfigError, match="no predict"):
        Reranker(model=object())


def test_a_named_model_needs_the_extra(monkeypatch, reports):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("sentence_transformers"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    reranker = Reranker({"model": "some/cross-encoder"})
    with pytest.raises(MissingExtraError, match=r"laya-retrieval\[rerank\]"):
        reranker.process("q", reports)


def test_a_blend_outside_zero_to_one_is_refused():
    with pytest.raises(ConfigError, match="blend"):
        Reranker(model=FakeCrossEncoder(), blend=1.5)


def test_inputs_are_left_alone(reports):
    before = list(reports)
    Reranker(model=FakeCrossEncoder()).process("q", reports)
    assert reports == before
    assert isinstance(reports[0], Candidate)
