"""What a query costs each system."""

from __future__ import annotations

import json

import pytest
from laya_eval.beir import load_judged
from laya_eval.retrieval.corpus import open_corpus
from laya_eval.retrieval.cost import cost_files, measure_costs, time_systems, timed_queries
from laya_eval.retrieval.evaluation import Measurement
from laya_eval.retrieval.settings import Settings
from laya_retrieval.testing import FakeDecisionModel


def measurement(bundle, judged_data, *systems, model=None):
    settings = Settings(systems=systems, resamples=50, permutations=50)
    return Measurement(open_corpus(bundle), load_judged(judged_data), settings, model=model)


@pytest.mark.parametrize(("count", "wanted"), [(1, 1), (5, 5), (16, 16), (99, 16)])
def test_timed_queries_are_spread_over_the_measured_ones(bundle, judged_data, count, wanted):
    one = measurement(bundle, judged_data, "bm25")
    found = timed_queries(one, count)
    assert len(found) == len(set(found)) == wanted
    places = [one.queries.index(query) for query in found]
    assert places == sorted(places)
    assert places[0] == 0
    assert len(one.queries) - places[-1] <= -(-len(one.queries) // wanted)


def test_a_gate_is_asked_anew_for_each_system_but_loaded_once(bundle, judged_data):
    model, loaded = FakeDecisionModel(), []

    def load():
        loaded.append(1)
        return model

    systems = ("bm25", "bm25+filter", "bm25+order")
    one = measurement(bundle, judged_data, *systems, model=load)
    loaded.clear()
    advanced = []
    costs = time_systems(one, one.queries[:3], advance=lambda: advanced.append(1))
    assert list(costs) == list(systems)
    assert all(0 < cost.median_ms <= cost.p95_ms for cost in costs.values())
    assert len(advanced) == 3
    assert loaded == [1]
    # Three queries and one to warm up, by two systems.
    asked = [states for states, _ in model.calls]
    assert len([states for states in asked if states]) % (4 * 2) == 0


def test_the_plot_and_its_numbers_say_the_same(bundle, judged_data):
    one = measurement(bundle, judged_data, "bm25", "bm25+head")
    evaluation = one.measure(one.run())
    costs = measure_costs(one, evaluation, 4)
    files = cost_files(costs)
    data = json.loads(files["cost-quality.json"])
    assert data == costs
    assert len(data["queries"]) == 4
    assert data["fingerprint"] == one.fingerprint
    assert data["machine"]["cores"] >= 1
    bm25 = data["systems"]["bm25"]
    assert bm25["mean"] == evaluation.systems["bm25"].means["nDCG@10"]
    assert f"bm25: {bm25['median_ms']:.3g} ms" in files["cost-quality.svg"]
