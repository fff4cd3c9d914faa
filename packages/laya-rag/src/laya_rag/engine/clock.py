"""How long each stage of one question took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from laya_rag.engine.cancel import CancelToken


class Clock:
    """Seconds by stage; a stage inside another one counts for itself alone.

    Entering a stage is where a cancelled question stops. Belongs to one question and one thread.
    """

    def __init__(self, cancel: CancelToken | None = None) -> None:
        self.cancel = cancel or CancelToken()
        self._seconds: dict[str, float] = {}
        self._inner = 0.0
        self._began = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside; raises `StoppedError` when the question was cancelled."""
        self.cancel.check()
        began, outer, self._inner = time.perf_counter(), self._inner, 0.0
        try:
            yield
        finally:
            spent = time.perf_counter() - began
            self._seconds[name] = self._seconds.get(name, 0.0) + spent - self._inner
            self._inner = outer + spent

    def seconds(self) -> dict[str, float]:
        """Every stage in the order of its first end, and the `total` since the clock began."""
        self.cancel.check()
        return {**self._seconds, "total": time.perf_counter() - self._began}
