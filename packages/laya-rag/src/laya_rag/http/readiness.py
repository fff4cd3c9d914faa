"""Whether the corpus and the model can answer: both are loaded in the background."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Literal

from laya_rag.serving.source import EngineSource

logger = logging.getLogger(__name__)

#: Seconds after which to ask again.
RETRY_AFTER = 2.0
# A load that failed is tried again, but not at every question.
_PAUSE = 5.0
# Opening a new bundle can take minutes, and cannot be stopped: an end does not wait for it.
_GRACE = 2.0

State = Literal["ready", "starting", "no_index", "failed"]


class Readiness:
    """Opens the corpus and loads its models in a thread, and again while that fails.

    Thread-safe.
    """

    def __init__(self, source: EngineSource, now: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._now = now
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._warm = False
        self._failed_at: float | None = None
        self._closed = False

    def state(self) -> State:
        """How far it is; begins to load what is not loaded yet."""
        if self._source.missing():
            return "no_index"
        with self._lock:
            if self._warm:
                return "ready"
            running = self._thread is not None and self._thread.is_alive()
            waiting = self._failed_at is not None and self._now() < self._failed_at + _PAUSE
            if not running and not waiting and not self._closed:
                self._thread = threading.Thread(target=self._load, name="laya-warm", daemon=True)
                self._thread.start()
            return "starting" if self._failed_at is None else "failed"

    def reload(self) -> None:
        """Load the index that lies there now, in this thread; a failure is logged and shown."""
        if not self._source.missing():
            self._load()

    def close(self) -> bool:
        """Begin nothing more; whether nothing runs any more either, after a short wait.

        What runs on holds the source, and ends with the process.
        """
        with self._lock:
            self._closed = True
            thread = self._thread
        if thread is None:
            return True
        thread.join(_GRACE)
        return not thread.is_alive()

    def _load(self) -> None:
        try:
            self._source.engine().warm()
        except Exception:
            # The thread must say so whatever it was: nobody else waits for it.
            logger.exception("the corpus cannot be opened")
            with self._lock:
                self._warm, self._failed_at = False, self._now()
            return
        with self._lock:
            self._warm, self._failed_at = True, None
