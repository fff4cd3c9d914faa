"""How often one caller may call."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from laya_rag.serving.errors import RateLimitedError, ServerSetupError


class RateLimiter:
    """At most `capacity` calls of each caller in any `window` seconds.

    Exact: the times of the calls within the window are kept, at most `capacity` of them for each
    caller. A refused call does not count. `now` gives seconds and never goes back. Thread-safe.

    Raises `ServerSetupError` unless both are positive.
    """

    def __init__(
        self, capacity: int, window: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        if capacity < 1 or not 0 < window < float("inf"):
            raise ServerSetupError("a rate is a positive number of calls in so many seconds")
        self.capacity = capacity
        self.window = window
        self._now = now
        self._calls: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def take(self, caller: str) -> None:
        """Count a call; raises `RateLimitedError` with the seconds until there is room."""
        with self._lock:
            now = self._now()
            begin = now - self.window
            calls = self._calls.setdefault(caller, deque())
            while calls and calls[0] <= begin:
                calls.popleft()
            if len(calls) >= self.capacity:
                raise RateLimitedError(calls[0] - begin)
            calls.append(now)
            self._forget(begin)

    def _forget(self, begin: float) -> None:
        """Drop callers whose last call is out of the window, so that names do not pile up."""
        for name in [name for name, calls in self._calls.items() if calls[-1] <= begin]:
            del self._calls[name]
