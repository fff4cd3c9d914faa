"""What the legs found together."""

from __future__ import annotations

from itertools import permutations

import pytest
from laya_eval.metrics import per_query
from laya_eval.retrieval.pool import pool_by_depth

QRELS = {"q": {"a": 1, "b": 2, "c": 1, "x": 0}, "r": {"d": 1}}
PLACES = {"q": {"bm25": {"a": 1, "b": 7}, "dense": {"b": 2}}, "r": {"bm25": {}}}


def test_a_document_counts_at_its_best_place_in_any_leg():
    found = {p.depth: p for p in pool_by_depth(PLACES, QRELS, ["q", "r"], deepest=8)}
    assert sorted(found) == [5, 8]
    assert found[5].recall == pytest.approx((2 / 3 + 0) / 2)


def test_a_query_that_no_leg_ran_for_found_nothing():
    [pool] = pool_by_depth({}, QRELS, ["r"], deepest=3)
    assert (pool.depth, pool.recall, pool.best_map) == (3, 0.0, 0.0)


def test_no_order_of_the_pool_is_better_than_the_best():
    orders = permutations(["a", "b", "n1", "n2"])
    best = max(
        per_query({"q": list(order)}, QRELS, ["MAP@100"])["MAP@100"]["q"] for order in orders
    )
    [*_, pool] = pool_by_depth(PLACES, QRELS, ["q"], deepest=8)
    assert pool.best_map == pytest.approx(best)
