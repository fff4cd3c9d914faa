"""The quadratic knapsack: the subset of most value less pairwise penalties within a capacity.

    maximise   Σ_i v_i x_i  −  Σ_{i<j} p_ij x_i x_j     subject to   Σ_i c_i x_i ≤ C,  x_i ∈ {0, 1}

Exact where the penalties tie only small groups of items together, which is the usual case
(near-duplicates come in twos and threes): each group is enumerated, and a dynamic program over
the capacity chooses one subset per group (a multiple-choice knapsack; Kellerer, Pferschy and
Pisinger, "Knapsack Problems", 2004, ch. 11). Otherwise iterated greedy fillings, improved by
exchanges and by solving exactly for most items while the others stay; `solve` says which of the
two it was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Solution", "solve"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

#: Groups of more items than this are not enumerated (2^14 subsets take about two milliseconds).
LARGEST_GROUP = 14
#: The dynamic program runs while options × capacity stays below this (some tens of milliseconds).
LARGEST_TABLE = 40_000_000

_EPSILON = 1e-12

# The search. Measured on random instances of 100 items by `laya bench packing`: fewer rows or
# rounds lose some tenths of a percent, more of them gain less than one tenth.
_ROWS = 64
_ROUNDS = 20
_NOISE = 0.2  # standard deviation of the logarithm of a rate's noise
_DROP = (0.05, 0.5)  # the share of a row's items that one round drops
_FREE_GROUP = 6
_PATIENCE = 1.0  # how often each item is freed, on average, before the search gives up


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """What to take: `chosen` (n,) bool, its `objective`, and whether that is a proven optimum."""

    chosen: Bools
    objective: float
    exact: bool


def solve(values: Floats, costs: Ints, capacity: int, penalties: Floats) -> Solution:
    """The best subset found, the same one for the same input.

    `values` (n,) float64 and `penalties` (n, n) float64 are ≥ 0 and in one unit, the penalties
    symmetric with a zero diagonal; `costs` (n,) int64 are ≥ 0 in the unit of `capacity`. Items
    dearer than the capacity are never taken. Nothing is checked here: `Packer` has done so.
    """
    usable = np.flatnonzero((costs <= capacity) & (values > 0))
    chosen = np.zeros(len(values), dtype=bool)
    v, c, p = values[usable], costs[usable], penalties[np.ix_(usable, usable)]
    part = _solve_exactly(v, c, capacity, p)
    exact = part is not None
    if part is None:
        part = _search(v, c, capacity, p)
    chosen[usable[part]] = True
    return Solution(chosen, objective(values, penalties, chosen), exact)


def objective(values: Floats, penalties: Floats, chosen: Bools) -> float:
    """Σ value − Σ penalty of the pairs in `chosen` (n,) bool."""
    inside = penalties[np.ix_(chosen, chosen)]
    return float(values[chosen].sum() - inside.sum() / 2)


# --- exact -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Options:
    """The subsets of one group worth taking: no other is both cheaper and better."""

    members: Ints
    subsets: Bools  # (options, members); the empty subset first
    values: Floats
    costs: Ints


def _solve_exactly(v: Floats, c: Ints, capacity: int, p: Floats) -> Bools | None:
    """The optimum as (n,) bool, or None when the instance is too entangled to enumerate."""
    groups = _groups(p > 0)
    if any(len(group) > LARGEST_GROUP for group in groups):
        return None
    options = [_options(group, v, c, capacity, p) for group in groups]
    chosen = np.zeros(len(v), dtype=bool)
    # The options of a group rise in value, so the last is its best: if all of these fit, done.
    if sum(int(option.costs[-1]) for option in options) <= capacity:
        picks = [len(option.costs) - 1 for option in options]
    else:
        capacity = min(capacity, int(c.sum()))
        if sum(len(option.costs) for option in options) * (capacity + 1) > LARGEST_TABLE:
            return None
        picks = _choose_one_each(options, capacity)
    for option, pick in zip(options, picks, strict=True):
        chosen[option.members[option.subsets[pick]]] = True
    return chosen


def _groups(linked: Bools) -> list[Ints]:
    """Connected components of the graph whose edges are the pairs with a penalty."""
    unseen = np.ones(len(linked), dtype=bool)
    groups = []
    for first in range(len(linked)):
        if not unseen[first]:
            continue
        inside = np.zeros(len(linked), dtype=bool)
        frontier = inside.copy()
        frontier[first] = True
        while frontier.any():
            inside |= frontier
            frontier = linked[frontier].any(axis=0) & ~inside
        unseen &= ~inside
        groups.append(np.flatnonzero(inside))
    return groups


def _options(group: Ints, v: Floats, c: Ints, capacity: int, p: Floats) -> _Options:
    size = len(group)
    subsets = (np.arange(1 << size)[:, None] >> np.arange(size)) & 1
    values = subsets @ v[group] - ((subsets @ p[np.ix_(group, group)]) * subsets).sum(axis=1) / 2
    costs = subsets @ c[group]
    order = np.lexsort((-values, costs))
    order = order[costs[order] <= capacity]
    best_before = np.maximum.accumulate(np.concatenate([[-np.inf], values[order][:-1]]))
    order = order[values[order] > best_before + _EPSILON]
    # The empty subset comes first: it costs nothing, unless free items already beat it.
    if costs[order[0]] > 0 or values[order[0]] < 0:
        order = np.concatenate([[0], order])
    return _Options(group, subsets[order].astype(bool), values[order], costs[order])


def _choose_one_each(options: list[_Options], capacity: int) -> list[int]:
    """One option per group, of most value within the capacity: a dynamic program over tokens."""
    best = np.zeros(capacity + 1)
    choices = np.zeros((len(options), capacity + 1), dtype=np.int16)
    for choice, option in zip(choices, options, strict=True):
        following = best + option.values[0]
        for k in range(1, len(option.costs)):
            cost = int(option.costs[k])
            candidate = best[: capacity + 1 - cost] + option.values[k]
            better = candidate > following[cost:] + _EPSILON
            following[cost:][better] = candidate[better]
            choice[cost:][better] = k
        best = following
    picks = []
    left = capacity
    for choice, option in zip(choices[::-1], options[::-1], strict=True):
        picks.append(int(choice[left]))
        left -= int(option.costs[picks[-1]])
    return picks[::-1]


# --- heuristic ---------------------------------------------------------------------------------


def _search(v: Floats, c: Ints, capacity: int, p: Floats) -> Bools:
    """The best of many greedy fillings that were taken apart and refilled, made locally optimal."""
    found = _climb(_iterated_greedy(v, c, capacity, p), v, c, capacity, p)
    return _reoptimise(found, v, c, capacity, p)


def _iterated_greedy(v: Floats, c: Ints, capacity: int, p: Floats) -> Bools:
    """Iterated greedy (Ruiz and Stützle 2007), many rows at once; the best row.

    Each row takes items by its own noisy rate of gain per cost, then again and again drops a
    random part of what it took and refills, keeping a change that is no worse.
    """
    draws = np.random.default_rng(0)  # seeded here, so that the result depends on the input alone
    n = len(v)
    powers = np.linspace(0.0, 1.2, _ROWS)[:, None]
    weights = np.maximum(c, 1.0) ** powers
    rows = np.zeros((_ROWS, n), dtype=bool)
    gains = np.broadcast_to(v, (_ROWS, n)).copy()
    left = np.full(_ROWS, capacity)
    noise = np.exp(draws.normal(0.0, _NOISE, (_ROWS, n)))
    noise[::4] = 1.0  # some rows begin without noise
    _fill(rows, gains, left, c, p, weights / noise)
    values = _row_values(rows, gains, v)
    for _ in range(_ROUNDS):
        dropped = rows & (draws.random((_ROWS, n)) < draws.uniform(*_DROP, (_ROWS, 1)))
        tried = rows & ~dropped
        tried_gains = gains + dropped.astype(np.float64) @ p
        tried_left = left + dropped @ c
        noise = np.exp(draws.normal(0.0, _NOISE, (_ROWS, n)))
        _fill(tried, tried_gains, tried_left, c, p, weights / noise)
        tried_values = _row_values(tried, tried_gains, v)
        better = tried_values >= values
        rows[better], gains[better] = tried[better], tried_gains[better]
        left[better], values[better] = tried_left[better], tried_values[better]
    best: Bools = rows[int(np.argmax(values))]
    return best


def _row_values(rows: Bools, gains: Floats, v: Floats) -> Floats:
    """The objective of each row: what its items are worth, and gain, halved (Σ v − ½ Σ p)."""
    values: Floats = (rows * (gains + v)).sum(axis=1) / 2
    return values


def _fill(rows: Bools, gains: Floats, left: Ints, c: Ints, p: Floats, weights: Floats) -> None:
    """Adds to every row, in place, its item of best rate until no row has one left."""
    active = np.arange(len(rows))
    while len(active):
        open_ = ~rows[active] & (c <= left[active][:, None]) & (gains[active] > _EPSILON)
        rates = np.where(open_, gains[active] / weights[active], 0.0)
        items = rates.argmax(axis=1)
        able = rates[np.arange(len(active)), items] > 0
        active, items = active[able], items[able]
        rows[active, items] = True
        gains[active] -= p[items]
        left[active] -= c[items]


def _climb(chosen: Bools, v: Floats, c: Ints, capacity: int, p: Floats) -> Bools:
    """Adds, drops or exchanges while that improves; every step raises the objective, so it ends."""
    chosen = chosen.copy()
    gains = v - p @ chosen
    left = capacity - int(c[chosen].sum())
    while True:
        change, out, into = _best_move(chosen, gains, c, left, p)
        if change <= _EPSILON:
            return chosen
        if out >= 0:
            chosen[out] = False
            gains += p[out]
            left += int(c[out])
        if into >= 0:
            chosen[into] = True
            gains -= p[into]
            left -= int(c[into])


def _best_move(
    chosen: Bools, gains: Floats, c: Ints, left: int, p: Floats
) -> tuple[float, int, int]:
    """The best addition, removal or exchange: its change, the item out, the item in (or −1)."""
    moves = [(-np.inf, -1, -1)]
    inside = np.flatnonzero(chosen)
    outside = np.flatnonzero(~chosen)
    fits = outside[c[outside] <= left]
    if len(fits):
        item = int(fits[np.argmax(gains[fits])])
        moves.append((float(gains[item]), -1, item))
    if len(inside):
        item = int(inside[np.argmin(gains[inside])])
        moves.append((float(-gains[item]), item, -1))
    if len(inside) and len(outside):
        # What an outsider gains once another has left: its gain now plus the penalty they share.
        change = gains[outside] - gains[inside][:, None] + p[np.ix_(inside, outside)]
        change[c[outside] - c[inside][:, None] > left] = -np.inf
        row, column = divmod(int(np.argmax(change)), len(outside))
        moves.append((float(change[row, column]), int(inside[row]), int(outside[column])))
    return max(moves)


def _reoptimise(chosen: Bools, v: Floats, c: Ints, capacity: int, p: Floats) -> Bools:
    """Large neighbourhood search (Shaw 1998): frees most items and solves for those exactly.

    The items to free are drawn so that the penalties among them tie only small groups together;
    the others stay as they are, and their penalties become part of the free ones' values.
    """
    draws = np.random.default_rng(1)
    value = objective(v, p, chosen)
    patience = _PATIENCE
    while patience > 0:
        free = _loosely_tied(p > 0, draws.permutation(len(v)))
        patience -= len(free) / len(v)
        tried = chosen.copy()
        tried[free] = False
        left = capacity - int(c[tried].sum())
        worth = v - p @ tried
        free = free[(worth[free] > _EPSILON) & (c[free] <= left)]
        part = _solve_exactly(worth[free], c[free], left, p[np.ix_(free, free)])
        if part is None:  # too large a capacity for the dynamic program
            break
        tried[free[part]] = True
        found = objective(v, p, tried)
        if found > value + _EPSILON:
            chosen, value, patience = tried, found, _PATIENCE
    return chosen


def _loosely_tied(linked: Bools, order: Ints) -> Ints:
    """Items, taken in `order`, whose links among themselves join at most `_FREE_GROUP` of them."""
    group = np.full(len(order), -1)
    sizes = np.zeros(len(order), dtype=np.int64)
    for item in order.tolist():
        touched = set(group[linked[item]].tolist()) - {-1}
        size = 1 + sum(int(sizes[other]) for other in touched)
        if size > _FREE_GROUP:
            continue
        for other in touched:
            group[group == other] = item
        group[item] = item
        sizes[item] = size
    return np.flatnonzero(group >= 0)
