"""What becomes of relevant documents that the first look at the question misses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_eval.retrieval.checkpoint import Retrieved
from laya_eval.retrieval.second_hop import second_hop

QRELS = {
    "two": {"a": 1, "b": 1, "no": 0},
    "three": {"a": 2, "c": 1, "d": 1},
    "one": {"z": 1},
    "found": {"a": 1, "b": 1},
}
FOUND = {
    # b lies beyond the first two; a probe finds it at once.
    "two": Retrieved(
        {"rrf": ["a", "x", "b"], "rrf+filter": ["a"]},
        {"bm25": {"a": 1, "b": 5}, "dense": {"b": 4}},
        probed={"Curie": {"b": 1}, "Paris": {"b": 3}},
    ),
    # c is found deep, d never; the probe finds c too deep.
    "three": Retrieved(
        {"rrf": ["a", "c"], "rrf+filter": ["c", "a"]},
        {"bm25": {"a": 1}, "dense": {"c": 3}},
        probed={"Curie": {"c": 3}},
    ),
    "one": Retrieved({"rrf": [], "rrf+filter": []}, {"bm25": {}}),
    "found": Retrieved({"rrf": ["a", "b"], "rrf+filter": []}, {"bm25": {"a": 1, "b": 2}}),
}


def test_only_what_the_first_hop_misses_of_several_documents_counts():
    found = second_hop(FOUND, QRELS, list(QRELS), hop=2)
    assert found.queries == ("two", "three")
    assert found.documents == 3
    assert found.pool == pytest.approx((1 + 1 / 2) / 2)
    assert found.rankings == pytest.approx({"rrf": (1 + 1 / 2) / 2, "rrf+filter": (0 + 1 / 2) / 2})
    assert found.tops == pytest.approx({"rrf": (0 + 1 / 2) / 2, "rrf+filter": (0 + 1 / 2) / 2})


def test_a_second_search_is_compared_with_looking_as_deep_for_the_question():
    found = second_hop(FOUND, QRELS, list(QRELS), hop=2)
    assert found.searched_again == pytest.approx((1 + 0) / 2)
    # Two probes: the first six documents of each leg; one probe: the first four.
    assert found.looked_deeper == pytest.approx((1 + 1 / 2) / 2)


def test_without_a_second_search_nothing_is_said_of_one():
    plain = {name: Retrieved(one.rankings, one.places) for name, one in FOUND.items()}
    found = second_hop(plain, QRELS, list(QRELS), hop=2)
    assert (found.searched_again, found.looked_deeper) == (None, None)


@pytest.mark.parametrize("queries", [["one"], ["found"], ["one", "found"]])
def test_where_the_first_hop_misses_nothing_there_is_nothing_to_say(queries):
    assert second_hop(FOUND, QRELS, queries, hop=2) is None


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 30), min_size=2),
    st.integers(1, 12),
)
def test_no_first_place_holds_a_second_hop_document(places, hop):
    order = sorted(places, key=lambda document: (places[document], document))
    one = Retrieved({"bm25": order}, {"bm25": places})
    found = second_hop({"q": one}, {"q": dict.fromkeys("abcdef", 1)}, ["q"], hop=hop)
    beyond = {d for d in "abcdef" if places.get(d, hop + 1) > hop}
    if not beyond:
        assert found is None
    else:
        assert found.documents == len(beyond)
        assert found.pool == pytest.approx(len(beyond & places.keys()) / len(beyond))
        assert found.pool == found.rankings["bm25"] >= found.tops["bm25"]
