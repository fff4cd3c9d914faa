"""The query-time benches: what they compare is equal."""

import pytest
from laya_eval.bench.retrieval import Comparison, _same, compare_rrf, race, ranked_legs


def test_a_ratio_says_how_many_times_faster_we_are():
    [line] = Comparison("task", 2.0, {"peer": 5.0}).lines()
    assert line.endswith("2.50 x")


def test_without_a_peer_it_says_so():
    assert "no peer" in Comparison("task", 2.0).lines()[0]


def test_unequal_results_are_not_timed():
    with pytest.raises(RuntimeError, match="peer scores a"):
        _same({"a": 1.0}, {"a": 1.1}, "peer")
    with pytest.raises(RuntimeError, match="other candidates"):
        _same({"a": 1.0}, {"b": 1.0}, "peer")


def test_legs_are_reproducible():
    assert ranked_legs(2, 5) == ranked_legs(2, 5)
    assert [len(leg) for leg in ranked_legs(2, 5)] == [5, 5]


def test_time_is_positive():
    assert race({"nothing": lambda: None}, rounds=2, seconds=0.001)["nothing"] > 0


@pytest.mark.slow
def test_peers_rank_as_we_do():
    pytest.importorskip("ranx", reason="needs the dependency group `oracles`")
    pytest.importorskip("langchain_core", reason="needs the dependency group `adapters`")
    assert set(compare_rrf(2, 20).peers) == {"ranx", "LangChain's ensemble"}
