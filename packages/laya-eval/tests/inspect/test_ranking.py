"""The demo's rules of ranking."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from laya_eval.inspect.ranking import DEPTH, Ranker, cosine, missing
from laya_eval.retrieval.corpus import open_corpus
from laya_index.process import process
from laya_index.stack import load_stack
from laya_signals.tokenize.word import WordTokenizer

from .conftest import STACK


@pytest.fixture
def ranker(collection, vectors):
    return Ranker(collection, vectors)


@pytest.fixture
def traces(collection, ranker):
    return {query.id: ranker.trace(query.text, query.id) for query in collection.queries}


def test_bm25_is_the_textbook_formula_with_titles_three_times(collection, traces):
    tokenize = WordTokenizer(stem="english", stop_words="english").tokenize
    counts = {
        row.id: Counter(tokenize(row.text) + 3 * tokenize(row.title))
        for row in collection.paragraphs
    }
    lengths = {name: sum(count.values()) for name, count in counts.items()}
    average = sum(lengths.values()) / 24
    for query in collection.queries:
        scores = {}
        for name, count in counts.items():
            total = 0.0
            for term in tokenize(query.text):
                df = sum(term in other for other in counts.values())
                idf = math.log(1 + (24 - df + 0.5) / (df + 0.5))
                norm = 1.2 * (1 - 0.75 + 0.75 * lengths[name] / average)
                total += idf * count[term] * 2.2 / (count[term] + norm)
            if total:
                scores[name] = total
        order = sorted(scores, key=lambda name: (-scores[name], name))[:10]
        hits = traces[query.id].bm25
        assert [hit.id for hit in hits] == order
        assert [hit.score for hit in hits] == pytest.approx([scores[name] for name in order])
        for hit in hits:
            assert sum(term.weight for term in hit.terms) == pytest.approx(hit.score)


def test_dense_is_the_cosine_of_saved_vectors(collection, vectors, traces):
    names = list(vectors.documents)
    matrix = np.array([vectors.documents[name].values for name in names], np.float64)
    for query in collection.queries:
        scores = matrix @ vectors.queries[query.id].values
        hits = traces[query.id].dense
        assert [hit.id for hit in hits] == [names[row] for row in np.argsort(-scores)[:10]]
        assert [hit.score for hit in hits] == pytest.approx(sorted(scores, reverse=True)[:10])


def test_fusion_is_the_sum_of_reciprocal_ranks_of_ten_candidates_each(traces):
    for trace in traces.values():
        wanted: Counter[str] = Counter()
        for leg in (trace.bm25, trace.dense):
            assert len(leg) <= DEPTH == 10
            assert [hit.rank for hit in leg] == list(range(1, len(leg) + 1))
            for hit in leg:
                wanted[hit.id] += 1 / (60 + hit.rank)
        order = sorted(wanted, key=lambda name: (-wanted[name], name))
        assert [hit.id for hit in trace.fused] == order
        for hit in trace.fused:
            assert hit.score == pytest.approx(wanted[hit.id], abs=1e-15)
            assert sum(part.contribution for part in hit.contributions) == hit.score
        assert trace.top == tuple(order[:5])


def test_a_query_without_a_vector_has_the_bm25_leg_alone(collection, ranker):
    question = collection.questions[0]
    trace = ranker.trace(question.text)
    assert trace.dense is None
    assert trace.bm25 == ranker.trace(question.text, question.id).bm25
    assert [hit.id for hit in trace.fused] == [hit.id for hit in trace.bm25]
    assert {part.leg for hit in trace.fused for part in hit.contributions} == {"bm25"}


def test_a_query_of_unknown_words_finds_nothing(ranker):
    trace = ranker.trace("Zeppelin volcano")
    assert (trace.bm25, trace.fused) == ((), ())
    assert [(term.document_frequency, term.idf) for term in trace.terms] == [(0, 0.0), (0, 0.0)]


def test_equal_scores_go_by_id(traces):
    third, fourth = traces["bread"].fused[2:4]
    assert [[part.rank for part in hit.contributions] for hit in (third, fourth)] == [
        [5, 3],
        [3, 5],
    ]
    assert third.score == fourth.score
    assert (third.id, fourth.id) == ("tide-mill-repair", "tide-mill-wheel")


def test_a_cosine_does_not_depend_on_the_order_of_summing(vectors):
    first, second = (vectors.documents[name].values for name in ("fog-bell", "salt-marsh"))
    order = np.random.default_rng(0).permutation(len(first))
    assert cosine(first, second) == cosine(first[order], second[order])


def test_an_answer_is_withheld_exactly_when_the_top_five_lack_what_it_needs(collection, traces):
    shown = {}
    for name, answer in collection.answers.items():
        lacking = missing(answer, traces[name])
        assert set(lacking) == set(answer.needs) - {hit.id for hit in traces[name].fused[:5]}
        shown[name] = not lacking
    assert shown == {"ticket": True, "bread": True, "log-books": True, "wind": False}


def test_a_sixth_place_is_not_enough(collection, traces):
    answer, trace = collection.answers["ticket"], traces["ticket"]
    fifth, sixth = trace.fused[4].id, trace.fused[5].id
    assert missing(answer.model_copy(update={"needs": (fifth,)}), trace) == ()
    assert missing(answer.model_copy(update={"needs": (fifth, sixth)}), trace) == (sixth,)


@pytest.mark.slow
def test_the_bundle_of_the_stack_gives_the_same_rankings(demo, collection, vectors, traces):
    process(load_stack(STACK, out=demo / "bundle"))
    view = open_corpus(demo / "bundle").view
    for query in collection.queries:
        found = view.search(
            view.query(query.text, vector=vectors.queries[query.id].values, depth=10)
        )
        mine = traces[query.id]
        assert [hit.metadata["document_id"] for hit in found["bm25"]] == [h.id for h in mine.bm25]
        # The bundle's vectors are fresh: on another type of processor they are rounded otherwise.
        for leg, tolerance in (("bm25", 1e-5), ("dense", 0.02)):
            scores = [hit.score for hit in found[leg]]
            assert scores == pytest.approx([h.score for h in getattr(mine, leg)], abs=tolerance)
