"""Every system on every judged query."""

from __future__ import annotations

import pytest
from laya_eval.beir import Judged, load_judged
from laya_eval.errors import DataError
from laya_eval.retrieval.corpus import open_corpus
from laya_eval.retrieval.evaluation import CHOSEN, Measurement, rank_documents
from laya_eval.retrieval.settings import Settings
from laya_retrieval.candidate import Candidate

FAST = {"resamples": 50, "permutations": 50}


@pytest.fixture(scope="module")
def judged(judged_data):
    return load_judged(judged_data)


@pytest.fixture(scope="module")
def corpus(bundle):
    return open_corpus(bundle)


def test_a_document_stands_at_the_place_of_its_best_passage():
    passages = [("a#1", "a"), ("b#1", "b"), ("a#0", "a"), ("c#0", "c")]
    found = [Candidate(name, 1.0, "", {"document_id": document}) for name, document in passages]
    assert rank_documents(found) == ["a", "b", "c"]


def test_places_are_those_of_relevant_documents_in_each_leg(corpus, judged):
    measurement = Measurement(corpus, judged, Settings(systems=("bm25",), **FAST))
    query = measurement.queries[0]
    found = measurement.retrieve(query)
    ranking = found.rankings["bm25"]
    relevant = {d for d, grade in judged.qrels[query].items() if grade > 0}
    assert found.places["bm25"] == {d: ranking.index(d) + 1 for d in ranking if d in relevant}
    assert relevant & found.places["bm25"].keys()


def test_rankings_are_cut_and_do_not_hold_the_query_itself(corpus, judged):
    renamed = Judged(
        {"mill-1" if n == "harbour0" else n: text for n, text in judged.queries.items()},
        {"mill-1" if n == "harbour0" else n: grades for n, grades in judged.qrels.items()},
    )
    for keep, there in ((False, False), (True, True)):
        settings = Settings(systems=("bm25",), keep_identical_ids=keep)
        ranking = Measurement(corpus, renamed, settings).retrieve("mill-1").rankings["bm25"]
        assert ("mill-1" in ranking) == there
    short = Settings(systems=("bm25",), results=3, measures=("nDCG@3",))
    assert len(Measurement(corpus, judged, short).retrieve("harbour0").rankings["bm25"]) == 3


def test_a_sample_keeps_the_order_and_depends_on_the_seed(corpus, judged):
    def sampled(**settings):
        return Measurement(corpus, judged, Settings(systems=("bm25",), **settings))

    everything = sampled()
    assert everything.sampled_from is None
    one, two = sampled(sample=6), sampled(sample=6, seed=1)
    assert one.queries == sampled(sample=6).queries != two.queries
    assert one.sampled_from == 16
    places = [everything.queries.index(query) for query in one.queries]
    assert places == sorted(places)
    assert sampled(sample=99).queries == everything.queries


def test_the_choice_by_split_halves_is_compared_with_the_rest(corpus, judged):
    settings = Settings(systems=("bm25", "rrf", "rrf+head"), baseline="rrf", **FAST)
    measurement = Measurement(corpus, judged, settings)
    evaluation = measurement.measure(measurement.run())
    assert [one.name for one in evaluation.comparisons] == ["bm25", "rrf+head", CHOSEN]
    assert set(evaluation.split_halves.chosen) == {"bm25"}
    assert evaluation.pool[-1].depth == 300


def test_one_system_has_nothing_to_be_compared_with(corpus, judged):
    measurement = Measurement(corpus, judged, Settings(**FAST))
    evaluation = measurement.measure(measurement.run())
    assert list(evaluation.systems) == ["bm25"]
    assert evaluation.comparisons == ()
    assert evaluation.split_halves is None


def test_a_second_search_is_for_names_that_the_first_one_found(corpus, judged):
    def probed(**settings):
        measurement = Measurement(corpus, judged, Settings(systems=("bm25",), **settings))
        return measurement.retrieve("harbour0").probed

    assert probed() == {}
    found = probed(probes=3)
    assert list(found) == ["Westeroog", "Sunday"]
    assert set(found["Westeroog"]) == {"harbour-0", "harbour-1"}


def test_what_the_first_hop_misses_is_followed_into_every_ranking(corpus, judged):
    everything = {
        f"{place}-{n}": 1 for place in ("mill", "ferry", "dyke", "school") for n in (0, 1, 2)
    }
    wide = Judged({"q": "mill"}, {"q": everything})
    systems = ("bm25", "bm25+head")
    measurement = Measurement(corpus, wide, Settings(systems=systems, results=2, measures=("R@2",)))
    found = measurement.measure(measurement.run()).second_hop
    assert found.queries == ("q",)
    assert found.documents == 9
    assert found.pool == 0
    assert found.rankings == {"bm25": 0.0, "bm25+head": 0.0}


def test_what_is_not_asked_for_is_not_in_the_configuration(corpus, judged):
    plain = Measurement(corpus, judged, Settings(systems=("bm25",)))
    assert not {"probes", "nuggets"} & plain.configuration["settings"].keys()
    assert "extractor" not in plain.configuration["components"]
    settings = Settings(systems=("bm25",), probes=1, nuggets=True)
    gold = {plain.queries[0]: [("red",)]}
    full = Measurement(corpus, judged, settings, nuggets=gold)
    assert {"probes", "nuggets"} <= full.configuration["settings"].keys()
    assert "extractor" in full.configuration["components"]
    evaluation = full.measure(full.run())
    assert list(evaluation.answers) == ["bm25"]
    assert plain.measure(plain.run()).answers == {}


@pytest.mark.parametrize("change", [{"depth": 3}, {"seed": 1}, {"systems": ("rrf",)}])
def test_the_fingerprint_moves_with_every_setting(corpus, judged, change):
    one = Measurement(corpus, judged, Settings(systems=("bm25",)))
    other = Measurement(corpus, judged, Settings(**{"systems": ("bm25",), **change}))
    assert one.fingerprint != other.fingerprint


def test_a_query_that_is_judged_relevant_to_itself_is_refused(corpus):
    judged = Judged({"a": "text"}, {"a": {"a": 1}})
    with pytest.raises(DataError, match="--keep-identical-ids"):
        Measurement(corpus, judged, Settings(systems=("bm25",)))
    Measurement(corpus, judged, Settings(systems=("bm25",), keep_identical_ids=True))
