"""The map stage on this machine: in this process, or in several."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from typing import TypeVar

from laya_index.errors import EngineError

A = TypeVar("A")
B = TypeVar("B")


class LocalEngine:
    """Runs in `workers` processes; with one, in this process.

    Worker processes are started afresh (spawned), so that no lock or thread of this process is
    copied into them.
    """

    def __init__(self, workers: int) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._ahead = 2 * workers
        if workers > 1:
            self._pool = ProcessPoolExecutor(
                workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_start_worker,
            )

    def map(self, function: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        """The results in the order of `items`; only a few items are in flight at a time.

        Raises `EngineError` when a worker process dies.
        """
        if self._pool is None:
            yield from map(function, items)
            return
        running: deque[Future[B]] = deque()
        try:
            for item in items:
                running.append(self._pool.submit(function, item))
                if len(running) >= self._ahead:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        except BrokenProcessPool as error:
            raise EngineError(
                "a worker process died (out of memory, perhaps); try fewer with --workers"
            ) from error

    def close(self) -> None:
        """Stop the workers at once."""
        if self._pool is None:
            return
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(5)


def _start_worker() -> None:
    # Ctrl-C reaches the whole process group; the main process alone answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # The workers are the parallelism: more threads in each would only get in each other's way.
    os.environ.setdefault("LAYA_THREADS", "1")


def _end_with_parent() -> None:
    # A parent that was killed cannot say so, and its worker would wait for work for ever.
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
