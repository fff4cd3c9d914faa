from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_rag.mcp import RateLimitedError, RateLimiter, ServerSetupError


class Now:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def allowed(limiter: RateLimiter, caller: str = "ann") -> bool:
    try:
        limiter.take(caller)
    except RateLimitedError:
        return False
    return True


def test_while_time_stands_still_there_are_as_many_calls_as_the_capacity() -> None:
    limiter = RateLimiter(3, 10, Now())
    assert [allowed(limiter) for _ in range(6)] == [True] * 3 + [False] * 3


def test_it_says_when_there_is_room_again_and_then_there_is() -> None:
    now = Now()
    limiter = RateLimiter(2, 10, now)
    limiter.take("ann")
    now.seconds += 4
    limiter.take("ann")
    now.seconds += 1
    with pytest.raises(RateLimitedError) as raised:
        limiter.take("ann")
    assert raised.value.retry_after == pytest.approx(5)
    assert raised.value.to_json()["retry_after"] == pytest.approx(5)
    now.seconds += raised.value.retry_after
    assert allowed(limiter)
    assert not allowed(limiter)


def test_callers_do_not_share() -> None:
    limiter = RateLimiter(1, 10, Now())
    assert allowed(limiter, "ann")
    assert allowed(limiter, "bob")
    assert not allowed(limiter, "ann")


def test_callers_who_are_gone_are_forgotten() -> None:
    now = Now()
    limiter = RateLimiter(1, 10, now)
    for number in range(1000):
        limiter.take(f"caller {number}")
        now.seconds += 1
    assert len(limiter._calls) <= 11


@given(
    capacity=st.integers(1, 5),
    window=st.floats(0.5, 20),
    steps=st.lists(st.floats(0, 5), max_size=60),
)
def test_no_window_ever_holds_more_than_the_capacity(
    capacity: int, window: float, steps: list[float]
) -> None:
    now = Now()
    limiter = RateLimiter(capacity, window, now)
    times = []
    for step in steps:
        now.seconds += step
        if allowed(limiter):
            times.append(now.seconds)
    for begin in times:
        assert sum(begin <= time < begin + window for time in times) <= capacity


@pytest.mark.parametrize(("capacity", "window"), [(0, 1), (-1, 1), (1, 0), (1, float("nan"))])
def test_a_rate_is_positive(capacity: int, window: float) -> None:
    with pytest.raises(ServerSetupError):
        RateLimiter(capacity, window)
