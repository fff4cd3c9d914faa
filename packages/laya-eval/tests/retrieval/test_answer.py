"""Nuggets in extracted answers."""

from __future__ import annotations

import numpy as np
import pytest
from laya_eval.errors import DataError
from laya_eval.retrieval.answer import EVIDENCE, Answering, measure_answers, nugget_recall
from laya_eval.retrieval.checkpoint import Retrieved
from laya_eval.retrieval.corpus import open_corpus
from laya_retrieval.candidate import Candidate

MILL = Candidate("m", 2.0, "The dyke is old. The mill was painted red in 1820. It is closed.")
FERRY = Candidate("f", 1.0, "The ferry takes two hours.")
NUGGETS = {"q": [("in 1820",), ("two hours",)], "r": [("never",)]}


@pytest.fixture(scope="module")
def answering(bundle):
    return Answering(open_corpus(bundle), NUGGETS, ["q", "r", "unlabelled"])


def test_an_answer_is_counted_beside_the_passages_that_it_is_from(answering):
    found = answering.extract("q", "when was the mill painted", [MILL, FERRY])
    assert found == {
        "said": 1,
        "characters": len("The mill was painted red in 1820."),
        "evidence_said": 2,
        "evidence_characters": len(MILL.text) + len(FERRY.text) + 1,
    }


def test_an_abstention_says_nothing_in_no_characters(answering):
    found = answering.extract("q", "xylophone quartz", [MILL])
    assert (found["said"], found["characters"], found["evidence_said"]) == (0, 0, 1)


def test_only_the_first_passages_are_read(answering):
    candidates = [FERRY] * EVIDENCE + [MILL]
    found = answering.extract("q", "when was the mill painted in 1820", candidates)
    assert found["evidence_said"] == 1


def test_sentences_are_put_in_reading_order(answering):
    text = "The mill stands on the dyke. The red mill was painted in 1820 by the parish."
    nuggets = {"q": [("on the dyke. the red mill",)]}
    one = Answering.__new__(Answering)
    one.extractor, one.nuggets = answering.extractor, nuggets
    # The second sentence has more of the words, so it is picked first.
    found = one.extract("q", "when was the mill painted dyke", [Candidate("m", 1.0, text)])
    assert found["said"] == 1


def test_queries_without_a_nugget_are_left_out_and_must_not_be_all(bundle, answering):
    assert list(answering.nuggets) == ["q", "r"]
    with pytest.raises(DataError, match="none of the measured queries"):
        Answering(open_corpus(bundle), NUGGETS, ["unlabelled"])


def test_recall_per_thousand_characters_is_the_ratio_of_the_means():
    found = nugget_recall(np.array([1.0, 0.5, 0.0]), np.array([100, 400, 0]), 200, 0)
    assert found.recall == pytest.approx(0.5)
    assert found.characters == pytest.approx(500 / 3)
    assert found.per_thousand == pytest.approx(1000 * 1.5 / 500)
    assert found.per_thousand_interval.low <= found.per_thousand
    assert found.per_thousand <= found.per_thousand_interval.high


def test_where_nothing_was_extracted_there_is_no_ratio():
    found = nugget_recall(np.array([0.0, 0.0]), np.array([0, 0]), 50, 0)
    assert found.recall == 0
    assert found.per_thousand is None
    assert found.per_thousand_interval is None


def test_systems_are_averaged_over_the_queries_that_have_nuggets():
    def row(said, characters):
        own = {"said": said, "characters": characters}
        return {**own, "evidence_said": 2, "evidence_characters": 1000}

    found = {
        "q": Retrieved({}, {}, answers={"bm25": row(1, 100)}),
        "r": Retrieved({}, {}, answers={"bm25": row(0, 0)}),
        "unlabelled": Retrieved({}, {}),
    }
    nuggets = {"q": [("a",), ("b",)], "r": [("c",), ("d",)]}
    [(name, answers)] = measure_answers(found, nuggets, resamples=50, seed=0).items()
    assert name == "bm25"
    assert answers.answer.recall == pytest.approx(0.25)
    assert answers.evidence.recall == 1
    assert answers.evidence.per_thousand == pytest.approx(1.0)
    assert answers.abstained == 0.5
