"""Expansion over a graph source."""

import pytest
from laya_retrieval import Candidate, ExpandError, MultiHopExpander
from laya_retrieval.testing import FakeGraphSource
from laya_signals import ConfigError

PATH = [("n1", "n2"), ("n2", "n3"), ("n3", "n4")]
SETTINGS = {"seed_top_k": 1, "hop_weight": 0.5, "max_hops": 2, "hop_decay": 0.5}


def of(key, score, *nodes):
    return Candidate(key, score, "", {"kg_node_ids": list(nodes)})


POOL = [of("seed", 0.9, "n1"), of("one", 0.5, "n2"), of("two", 0.4, "n3"), of("far", 0.3, "n4")]


def test_the_specified_example():
    expander = MultiHopExpander(SETTINGS, graph_source=FakeGraphSource(PATH))
    assert [(c.id, round(c.score, 6)) for c in expander.process("q", POOL)] == [
        ("one", 1.0),
        ("seed", 0.9),
        ("two", 0.65),
        ("far", 0.3),
    ]


def test_a_node_counts_once_however_many_ways_lead_to_it():
    diamond = [("n1", "a"), ("n1", "b"), ("a", "z"), ("b", "z")]
    expander = MultiHopExpander(SETTINGS, graph_source=FakeGraphSource(diamond))
    scores = {c.id: c.score for c in expander.process("q", [of("s", 0.9, "n1"), of("t", 0.0, "z")])}
    assert scores["t"] == 0.25


def test_it_asks_once_with_the_seeds_nodes():
    source = FakeGraphSource(PATH)
    MultiHopExpander(SETTINGS, graph_source=source).process("q", POOL)
    assert source.calls == [(frozenset({"n1"}), 2)]


def test_without_nodes_nothing_changes_and_nobody_is_asked():
    source = FakeGraphSource(PATH)
    pool = [Candidate("a", 0.1), Candidate("b", 0.9)]
    assert MultiHopExpander(SETTINGS, graph_source=source).process("q", pool) == pool
    assert MultiHopExpander(SETTINGS, graph_source=source).process("q", []) == []
    assert source.calls == []


@pytest.mark.parametrize("answer", [{"n1": 1}, {"n2": 0}, {"n2": 3}, {"n2": 1.5}, {"n2": True}])
def test_a_source_that_breaks_its_promise_is_an_error(answer):
    class Liar:
        def neighbors(self, seeds, max_hops):
            return answer

    with pytest.raises(ExpandError, match="Liar"):
        MultiHopExpander(SETTINGS, graph_source=Liar()).process("q", POOL)


@pytest.mark.parametrize("hops", [0, 65])
def test_hops_are_bounded(hops):
    with pytest.raises(ConfigError, match="max_hops"):
        MultiHopExpander({"max_hops": hops}, graph_source=FakeGraphSource(PATH))


def test_a_graph_source_is_needed():
    with pytest.raises(ConfigError, match="graph_source="):
        MultiHopExpander(SETTINGS)
