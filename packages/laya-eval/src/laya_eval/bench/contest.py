"""One task, ours against each peer: equal results first, then the race."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from laya_eval.bench.peers import Peer
from laya_eval.bench.row import Row
from laya_eval.bench.timing import race
from laya_eval.errors import BenchError, MissingPeerError

#: Checks that the peer's result is ours (raises `BenchError`), and returns the call to time.
Entrant = Callable[[], Callable[[], object]]


def contest(
    task: str,
    ours: Callable[[], object],
    peers: Mapping[Peer, Entrant],
    *,
    per: int = 1,
    rounds: int = 30,
    note: str = "",
) -> Iterator[Row]:
    """A row for each peer, in milliseconds; a call does the task `per` times.

    Raises `BenchError` when a peer's result is not ours; nothing is timed then.
    """
    calls: dict[str, Callable[[], object]] = {}
    missing: dict[Peer, MissingPeerError] = {}
    for peer, enter in peers.items():
        try:
            calls[peer.name] = enter()
        except MissingPeerError as error:
            missing[peer] = error
    times = {name: ms / per for name, ms in race({"": ours, **calls}, rounds=rounds).items()}
    own = times.pop("")
    for name, spent in times.items():
        yield Row(task, "ms", own, name, spent, note)
    for peer, reason in missing.items():
        yield peer.missing(task, "ms", own, reason)


def same_scores(
    ours: Mapping[str, float], theirs: Mapping[str, float], peer: str, *, tolerance: float = 1e-6
) -> None:
    """Raises `BenchError` unless both score the same candidates alike."""
    if ours.keys() != theirs.keys():
        raise BenchError(f"{peer} ranks other candidates than we do")
    for key, score in ours.items():
        if abs(score - theirs[key]) > tolerance * max(1.0, abs(score)):
            raise BenchError(f"{peer} scores {key} {theirs[key]}, we {score}")


def same_order(ours: Mapping[str, float], theirs: Sequence[str], peer: str) -> None:
    """Raises `BenchError` unless `theirs` is an order by our scores; ties may lie either way."""
    if ours.keys() != set(theirs) or len(ours) != len(theirs):
        raise BenchError(f"{peer} ranks other candidates than we do")
    for before, after in pairwise(theirs):
        if ours[before] < ours[after] - 1e-12:
            raise BenchError(f"{peer} puts {before} before {after}, we after it")
