"""Runs of a torch model whose bits do not depend on how many threads torch may use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from laya_signals.encode.onnx import available_cpus
from laya_signals.model_source import import_runtime

A = TypeVar("A")
B = TypeVar("B")

_RUNNING = threading.Lock()


def each_on_one_thread(
    function: Callable[[A], B], items: Sequence[A], *, at_once: int | None = None
) -> list[B]:
    """`function` of each item, in order, every call on one of torch's threads.

    With several, torch cuts an operation into as many pieces, and where a piece ends may decide the
    last bit. So `at_once` calls (by default one for each processor at hand) run side by side
    instead. Torch's setting belongs to the whole process: it is put back at the end, and two
    callers wait for each other.
    """
    torch = import_runtime("torch")
    workers = min(at_once or available_cpus(), len(items))
    with _RUNNING:
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            if workers < 2:
                return [function(item) for item in items]
            # Threads of its own: torch looks at the setting once in the life of a thread.
            with ThreadPoolExecutor(workers) as pool:
                return list(pool.map(function, items))
        finally:
            torch.set_num_threads(before)
