"""Threads for blocking work that an event loop waits for, with a limit on how much may wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

from laya_rag.engine.cancel import CancelToken
from laya_rag.errors import OverloadedError

P = ParamSpec("P")
R = TypeVar("R")


class Workers:
    """Runs work in `workers` threads; beyond `waiting` further pieces, one is refused at once."""

    def __init__(self, workers: int = 2, waiting: int = 32) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="laya-engine")
        self._places = threading.Semaphore(workers + waiting)

    async def run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The result of the work; raises `OverloadedError` when too much waits already."""
        if not self._places.acquire(blocking=False):
            raise OverloadedError("too many questions are running and waiting; ask again later")
        future = self._pool.submit(copy_context().run, partial(work, *args, **kwargs))
        # The place is free when the work has ended, not when nobody waits for it any more.
        future.add_done_callback(lambda _: self._places.release())
        return await asyncio.wrap_future(future)

    async def stoppable(self, work: Callable[..., R], *args: Any, **options: Any) -> R:
        """The same for work that takes `cancel`, a `CancelToken` used when nobody waits."""
        cancel = CancelToken()
        try:
            return await self.run(work, *args, cancel=cancel, **options)
        finally:
            cancel.cancel()  # a no-op for work that has ended

    async def close(self) -> None:
        """Wait for what runs, and refuse what waits."""
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)
