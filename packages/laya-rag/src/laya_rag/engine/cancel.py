"""Stopping work that nobody waits for any more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from laya_signals.decide.base import Decision, DecisionModel, Questions, State, model_fingerprint

from laya_rag.errors import StoppedError


class CancelToken:
    """Tells a running question to stop; it looks here between two stages and two model calls."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop; a second time does nothing."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether it was asked to."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise `StoppedError` when it was asked to stop."""
        if self._event.is_set():
            raise StoppedError("stopped, because nobody waits for the result any more")


class StoppingProgress:
    """The progress of work over documents, at whose every step it can be stopped."""

    def __init__(self, cancel: CancelToken) -> None:
        self._cancel = cancel

    def stage(self, name: str, total: int | None) -> None:  # noqa: ARG002
        """A stage begins; raises `StoppedError`."""
        self._cancel.check()

    def advance(self, documents: int, chunks: int) -> None:  # noqa: ARG002
        """So many more are done; raises `StoppedError`."""
        self._cancel.check()


class BatchedModel:
    """A decision model that is asked about a few states at a time, with a look around in between.

    The slices are the same whether or not anybody can cancel, so that answers are too.
    """

    def __init__(self, model: DecisionModel, size: int, check: Callable[[], None]) -> None:
        self.fingerprint = model_fingerprint(model)
        self._model = model
        self._size = size
        self._check = check

    def predict_batch(self, states: Sequence[State], questions: Questions) -> list[Decision]:
        """One decision per state; raises `StoppedError` between two slices."""
        decisions: list[Decision] = []
        for start in range(0, len(states), self._size):
            self._check()
            decisions += self._model.predict_batch(states[start : start + self._size], questions)
        return decisions
