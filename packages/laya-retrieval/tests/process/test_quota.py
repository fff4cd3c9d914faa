"""Distinct documents first."""

from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval import Candidate, DocumentQuota
from laya_retrieval.process.group import document_of

pools = st.lists(st.sampled_from("abcd"), max_size=10).map(
    lambda docs: [Candidate(f"{d}#chunk-{i}", 1.0 - i / 100) for i, d in enumerate(docs)]
)


def test_the_best_of_each_document_moves_to_the_front():
    pool = [Candidate(k, 1.0) for k in ("a#1", "a#2", "b#1", "a#3", "c#1")]
    ids = [c.id for c in DocumentQuota(documents=2).process("q", pool)]
    assert ids == ["a#1", "b#1", "a#2", "a#3", "c#1"]


def test_the_document_may_be_named_in_the_metadata():
    assert document_of(Candidate("x#1", 1.0, "", {"document_id": "real"})) == "real"
    assert document_of(Candidate("#x", 1.0)) == "#x"


@given(pools, st.integers(1, 5))
def test_the_first_n_are_distinct_as_far_as_the_pool_allows(pool, wanted):
    ordered = DocumentQuota(documents=wanted).process("q", pool)
    assert sorted(ordered, key=lambda c: c.id) == sorted(pool, key=lambda c: c.id)
    distinct = len({document_of(c) for c in pool})
    front = [document_of(c) for c in ordered[: min(wanted, distinct)]]
    assert len(set(front)) == len(front)
    assert DocumentQuota(documents=wanted).process("q", ordered) == ordered
