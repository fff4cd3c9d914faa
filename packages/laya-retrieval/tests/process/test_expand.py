"""Expansion from metadata alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval import Candidate, Expander, ExpandError


def of(key, score, nodes=None, neighbors=None):
    metadata = {}
    if nodes is not None:
        metadata["kg_node_ids"] = nodes
    if neighbors is not None:
        metadata["neighbor_node_ids"] = neighbors
    return Candidate(key, score, "", metadata)


POOL = [of("a", 0.9, ["n1"], ["n2"]), of("b", 0.8, ["n2"], ["n9"]), of("c", 0.7, ["n5"])]


def test_the_specified_example():
    expanded = Expander({"seed_top_k": 1, "hop_weight": 0.5}).process("q", POOL)
    assert [(c.id, c.score) for c in expanded] == [("b", 1.3), ("a", 0.9), ("c", 0.7)]


def test_columns_may_lie_in_the_context_header():
    pool = [Candidate(c.id, c.score, "", {"context_header": dict(c.metadata)}) for c in POOL]
    expanded = Expander({"seed_top_k": 1, "hop_weight": 0.5}).process("q", pool)
    assert [c.id for c in expanded] == ["b", "a", "c"]


def test_without_graph_columns_nothing_changes_the_order_included():
    pool = [Candidate("a", 0.1), Candidate("b", 0.9)]
    assert Expander().process("q", pool) == pool


@pytest.mark.parametrize("column", ["n1", 3, [1], [None], [["n1"]]])
@pytest.mark.parametrize("key", ["kg_node_ids", "neighbor_node_ids"])
def test_a_malformed_column_is_an_error_that_names_the_candidate(column, key):
    with pytest.raises(ExpandError, match=r"'bad'"):
        Expander().process("q", [*POOL, Candidate("bad", 0.1, "", {key: column})])


def test_a_node_listed_twice_counts_once():
    pool = [of("a", 0.9, ["n1"], ["n2", "n2"]), of("b", 0.8, ["n2", "n2"])]
    assert Expander(seed_top_k=1).process("q", pool)[0].score == pytest.approx(1.3)


def test_a_seed_is_not_its_own_neighbour():
    pool = [of("a", 0.9, ["n1", "n2"], ["n1", "n2"]), of("b", 0.8, ["n1"])]
    assert {c.id: c.score for c in Expander(seed_top_k=1).process("q", pool)} == {
        "a": 0.9,
        "b": 0.8,
    }


nodes = st.lists(st.sampled_from(["n1", "n2", "n3"]), max_size=3)
pools = st.lists(st.tuples(st.floats(0, 1), nodes, nodes), max_size=6).map(
    lambda rows: [of(f"c{i}", *row) for i, row in enumerate(rows)]
)


@given(pools, st.randoms())
def test_the_incoming_order_does_not_matter(pool, random):
    shuffled = list(pool)
    random.shuffle(shuffled)
    assert Expander().process("q", pool) == Expander().process("q", shuffled)


@given(pools)
def test_no_score_falls(pool):
    before = {c.id: c.score for c in pool}
    assert all(c.score >= before[c.id] for c in Expander().process("q", pool))
