"""The quadratic knapsack: exact where it says so, close to it everywhere."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval.process import knapsack
from laya_retrieval.process.knapsack import objective, solve


def instance(seed, n, density, share, *, distinct=True):
    """Random values, costs, a capacity that is a share of all costs, and penalties."""
    draws = np.random.default_rng(seed)
    values = draws.exponential(1.0, n) + 0.05 if distinct else draws.integers(1, 4, n) * 1.0
    costs = draws.integers(1, 40, n)
    similar = np.triu(draws.random((n, n)) * (draws.random((n, n)) < density), 1)
    penalties = (similar + similar.T) * np.minimum(values[:, None], values)
    return values, costs, int(costs.sum() * share), penalties


def brute_force(values, costs, capacity, penalties):
    """The best objective over all subsets."""
    n = len(values)
    return max(
        objective(values, penalties, chosen)
        for bits in itertools.product([False, True], repeat=n)
        if costs[chosen := np.array(bits, dtype=bool)].sum() <= capacity
    )


instances = st.builds(
    instance,
    seed=st.integers(0, 10_000),
    n=st.integers(0, 9),
    density=st.sampled_from([0.0, 0.2, 0.6, 1.0]),
    share=st.floats(0.0, 1.1),
    distinct=st.booleans(),
)


@given(instances)
def test_small_instances_are_solved_exactly(problem):
    solution = solve(*problem)
    assert solution.exact
    assert solution.objective == pytest.approx(brute_force(*problem))


@given(instances)
def test_the_capacity_is_never_exceeded_and_the_objective_is_that_of_the_choice(problem):
    values, costs, capacity, penalties = problem
    solution = solve(*problem)
    assert costs[solution.chosen].sum() <= capacity
    assert solution.objective == pytest.approx(objective(values, penalties, solution.chosen))


@pytest.mark.parametrize("seed", range(8))
def test_without_penalties_a_hundred_items_are_solved_exactly(seed):
    values, costs, capacity, penalties = instance(seed, 100, 0.0, 0.3)
    solution = solve(values, costs, capacity, penalties)
    best = np.zeros(capacity + 1)  # the textbook program, one item after the other
    for value, cost in zip(values, costs, strict=True):
        best[cost:] = np.maximum(best[cost:], best[: capacity + 1 - cost] + value)
    assert solution.exact
    assert solution.objective == pytest.approx(best[-1])


@pytest.mark.parametrize("seed", range(6))
def test_the_search_finds_the_optimum_of_small_entangled_instances(seed, monkeypatch):
    problem = instance(seed, 11, 0.9, 0.4)
    monkeypatch.setattr(knapsack, "LARGEST_GROUP", 1)
    solution = solve(*problem)
    assert not solution.exact
    assert solution.objective >= 0.99 * brute_force(*problem)


def test_a_table_too_large_is_searched_instead(monkeypatch):
    problem = instance(0, 30, 0.0, 0.3)
    exact = solve(*problem)
    monkeypatch.setattr(knapsack, "LARGEST_TABLE", 10)
    searched = solve(*problem)
    assert (exact.exact, searched.exact) == (True, False)
    assert searched.objective >= 0.99 * exact.objective


def test_the_same_input_gives_the_same_choice():
    problem = instance(5, 60, 0.2, 0.2)
    first, second = solve(*problem), solve(*problem)
    assert not first.exact
    assert (first.chosen == second.chosen).all()


def test_free_items_and_a_capacity_of_nothing():
    values, penalties = np.array([1.0, 2.0, 3.0]), np.zeros((3, 3))
    solution = solve(values, np.array([0, 0, 1]), 0, penalties)
    assert solution.chosen.tolist() == [True, True, False]
    penalties[0, 1] = penalties[1, 0] = 1.5
    assert solve(values, np.array([0, 0, 1]), 5, penalties).chosen.tolist() == [False, True, True]


@pytest.mark.slow
@pytest.mark.parametrize("density", [0.0, 0.01, 0.03, 0.1])
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_a_hundred_items_reach_99_percent_of_the_optimum(density, share):
    highspy = pytest.importorskip("highspy", reason="needs the dependency group oracles")
    for seed in range(3):
        values, costs, capacity, penalties = instance(seed, 100, density, share)
        model = highspy.Highs()
        model.setOptionValue("output_flag", False)
        model.setOptionValue("time_limit", 60.0)
        items = [model.addBinary() for _ in values]
        total = sum(value * item for value, item in zip(values.tolist(), items, strict=True))
        for i, j in np.argwhere(np.triu(penalties) > 0).tolist():
            both = model.addVariable(0, 1)
            model.addConstr(both >= items[i] + items[j] - 1)
            total = total - float(penalties[i, j]) * both
        model.addConstr(sum(int(c) * x for c, x in zip(costs, items, strict=True)) <= capacity)
        model.maximize(total)
        bound = model.getInfo().mip_dual_bound
        assert solve(values, costs, capacity, penalties).objective >= 0.99 * bound
