"""Measures agree with trec_eval's, which is the field's reference."""

from __future__ import annotations

import builtins
import random

import pytest
import pytrec_eval
from laya_eval.errors import DataError, MeasureError
from laya_eval.metrics import MEASURES, cutoff, drop_identical, membership, per_query
from laya_eval.trec import scores_of

RANDOM = random.Random(7)
DOCUMENTS = [f"d{n}" for n in range(400)]
QRELS = {
    f"q{n}": {d: RANDOM.choice([0, 0, 1, 1, 2]) for d in RANDOM.sample(DOCUMENTS, 12)}
    for n in range(60)
}
RUN = {query: RANDOM.sample(DOCUMENTS, RANDOM.choice([3, 40, 150])) for query in list(QRELS)[5:]}


@pytest.mark.parametrize(
    ("name", "theirs"),
    [("nDCG@10", "ndcg_cut.10"), ("R@100", "recall.100"), ("MAP@100", "map_cut.100")],
)
def test_trec_eval_agrees(name, theirs):
    run = {query: scores_of(documents) for query, documents in RUN.items()}
    reference = pytrec_eval.RelevanceEvaluator(QRELS, {theirs}).evaluate(run)
    key = theirs.replace(".", "_")
    ours = per_query(RUN, QRELS, [name])[name]
    assert list(ours) == membership(QRELS)
    for query, value in ours.items():
        wanted = reference[query][key] if query in reference else 0.0
        assert value == pytest.approx(wanted, abs=1e-9)


def test_trec_eval_agrees_on_the_reciprocal_rank_of_the_first_ten():
    run = {query: scores_of(documents[:10]) for query, documents in RUN.items()}
    reference = pytrec_eval.RelevanceEvaluator(QRELS, {"recip_rank"}).evaluate(run)
    ours = per_query(RUN, QRELS, ["MRR@10"])["MRR@10"]
    for query, value in ours.items():
        wanted = reference[query]["recip_rank"] if query in reference else 0.0
        assert value == pytest.approx(wanted, abs=1e-9)


def test_judged_is_the_share_of_the_first_ten_that_has_a_grade():
    ours = per_query(RUN, QRELS, ["Judged@10"])["Judged@10"]
    for query, documents in RUN.items():
        first = documents[:10]
        share = sum(document in QRELS[query] for document in first) / len(first)
        assert ours[query] == pytest.approx(share)


def test_a_query_without_relevant_documents_is_no_member():
    qrels = {"a": {"d": 0}, "b": {"d": 1}, "c": {}}
    assert membership(qrels) == ["b"]
    assert per_query({"a": ["d"], "b": ["d"], "x": ["d"]}, qrels, ["R@100"]) == {
        "R@100": {"b": 1.0}
    }
    with pytest.raises(DataError, match="no query has a relevant document"):
        per_query({}, {"a": {"d": 0}})


def test_no_run_at_all_scores_zero():
    assert per_query({}, QRELS)["nDCG@10"] == dict.fromkeys(membership(QRELS), 0.0)


@pytest.mark.parametrize("name", ["nDGC@10", "", "nDCG@x"])
def test_an_unknown_measure_is_refused(name):
    with pytest.raises(MeasureError, match="no measure"):
        per_query(RUN, QRELS, [name])


def test_the_cutoff_of_a_measure():
    assert [cutoff(name) for name in MEASURES] == [10, 100, 10, 100, 10]
    assert cutoff("MAP") is None


def test_a_query_does_not_find_itself():
    assert drop_identical(["a", "q", "b"], "q") == ["a", "b"]


def test_without_ir_measures_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name == "ir_measures":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MeasureError, match="extra `metrics`"):
        per_query(RUN, QRELS)
