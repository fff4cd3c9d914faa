"""Results have to be equal before anything is timed; a peer that is missing is named."""

from __future__ import annotations

import pytest
from laya_eval.bench.contest import contest, same_order, same_scores
from laya_eval.bench.peers import BM25S, Peer
from laya_eval.bench.row import Row
from laya_eval.bench.timing import in_turn, race
from laya_eval.errors import BenchError

ABSENT = Peer("no-such-library", "no_such_library", "`uv sync --group nowhere`")


@pytest.mark.parametrize(
    ("unit", "ours", "theirs", "ratio"),
    [
        ("ms", 2.0, 5.0, 2.5),
        ("MiB", 4.0, 2.0, 0.5),
        ("MB/s", 6.0, 2.0, 3.0),
        ("%", 1.0, 2.0, None),
        ("ms", 2.0, None, None),
        ("ms", None, 2.0, None),
    ],
)
def test_a_ratio_says_how_many_times_as_good_we_are(
    unit: str, ours: float | None, theirs: float | None, ratio: float | None
) -> None:
    assert Row("task", unit, ours, "peer", theirs).ratio == ratio


def test_other_scores_or_candidates_are_refused() -> None:
    same_scores({"a": 1.0}, {"a": 1.0 + 1e-9}, "peer")
    with pytest.raises(BenchError, match="peer scores a"):
        same_scores({"a": 1.0}, {"a": 1.1}, "peer")
    with pytest.raises(BenchError, match="other candidates"):
        same_scores({"a": 1.0}, {"b": 1.0}, "peer")


def test_an_order_may_differ_in_ties_alone() -> None:
    scores = {"a": 2.0, "b": 1.0, "c": 1.0}
    same_order(scores, ["a", "c", "b"], "peer")
    with pytest.raises(BenchError, match="puts b before a"):
        same_order(scores, ["b", "a", "c"], "peer")
    with pytest.raises(BenchError, match="other candidates"):
        same_order(scores, ["a", "b"], "peer")
    with pytest.raises(BenchError, match="other candidates"):
        same_order(scores, ["a", "b", "c", "a"], "peer")


def test_nothing_is_timed_when_results_differ() -> None:
    called: list[str] = []

    def differs() -> object:
        raise BenchError("peer scores a 2, we 1")

    with pytest.raises(BenchError, match="peer scores"):
        list(contest("task", lambda: called.append("ours"), {BM25S: differs}))  # type: ignore[dict-item]
    assert called == []


def test_a_missing_peer_is_named_with_what_gets_it() -> None:
    def enter() -> object:
        return ABSENT.load().run

    [row] = contest("task", lambda: None, {ABSENT: enter}, rounds=1)  # type: ignore[dict-item]
    assert (row.peer, row.theirs, row.ratio) == ("no-such-library", None, None)
    assert row.ours is not None
    assert row.note == "no-such-library is not installed; `uv sync --group nowhere`"


def test_calls_take_turns() -> None:
    order: list[tuple[str, int]] = []
    calls = {name: lambda item, name=name: order.append((name, item)) for name in "ab"}
    spent = in_turn(calls, [1, 2, 3], block=2)
    assert order == [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("a", 3), ("b", 3)]
    assert [len(s.wall) for s in spent.values()] == [3, 3]
    assert race({"nothing": lambda: None}, rounds=2, seconds=0.001)["nothing"] > 0
