"""Nothing happens."""

from laya_retrieval import Candidate, Identity


def test_the_order_stays_and_the_list_is_new():
    pool = [Candidate("b", 0.1), Candidate("a", 0.9)]
    same = Identity().process("q", pool)
    assert same == pool
    assert same is not pool
