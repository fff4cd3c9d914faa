"""Choosing on one half for the other."""

from __future__ import annotations

import numpy as np
import pytest
from laya_eval.errors import MeasureError
from laya_eval.retrieval.split_halves import choose_by_split_halves

QUERIES = [f"q{n}" for n in range(30)]


def values(seed, shift=0.0):
    numbers = np.random.default_rng(seed).random(30) + shift
    return dict(zip(QUERIES, numbers.tolist(), strict=True))


def test_a_clear_winner_is_always_chosen():
    found = choose_by_split_halves({"bad": values(1), "good": values(2, 1.0)})
    assert found.chosen == {"good": 1.0}
    assert found.values == pytest.approx(values(2, 1.0))
    assert found.best_of_all == pytest.approx(np.mean(list(values(2, 1.0).values())))


def test_among_equals_by_chance_choosing_is_no_better_than_the_average():
    systems = {f"s{n}": values(n) for n in range(20)}
    found = choose_by_split_halves(systems)
    chosen = np.mean(list(found.values.values()))
    assert chosen < found.best_of_all - 0.02
    assert sum(found.chosen.values()) == pytest.approx(1)


def test_ties_go_to_the_first_and_seeds_repeat():
    same = {"first": values(1), "second": values(1)}
    assert choose_by_split_halves(same).chosen == {"first": 1.0}
    systems = {"a": values(1), "b": values(2)}
    assert choose_by_split_halves(systems, seed=3) == choose_by_split_halves(systems, seed=3)


@pytest.mark.parametrize(
    ("systems", "words"),
    [
        ({}, "no system"),
        ({"a": {"q": 1.0}}, "at least two queries"),
        ({"a": values(1), "b": {"q0": 1.0}}, "the same queries"),
    ],
)
def test_what_cannot_be_split_is_refused(systems, words):
    with pytest.raises(MeasureError, match=words):
        choose_by_split_halves(systems)
