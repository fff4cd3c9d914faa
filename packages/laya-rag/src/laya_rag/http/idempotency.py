"""Idempotency-Key: a change that is asked for twice is made once.

See https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable
from typing import Any, Literal

from laya_rag.http.problems import ProblemError

#: Seconds for which an answer is kept.
KEPT = 24 * 3600.0
#: Answers kept for one caller, and for all of them.
PER_CALLER = 100
IN_ALL = 1000
_RETRY = 2

Json = dict[str, Any]
_Place = tuple[str, str]


class Claim:
    """One request with a key; whoever works on it says how that ends. Thread-safe.

    Without a key, nothing is remembered.
    """

    def __init__(self, keys: IdempotencyKeys | None, place: _Place, digest: str) -> None:
        self._keys = keys
        self._place = place
        self.digest = digest
        self.begun = 0.0
        self._state: Literal["waiting", "working", "over"] = "waiting"
        #: What was answered, once it was.
        self.answer: Json | None = None
        self._lock = threading.Lock()

    def start(self) -> bool:
        """Begin to work on it; False if it was given up before that."""
        with self._lock:
            if self._state != "waiting":
                return False
            self._state = "working"
            return True

    def give_up(self) -> None:
        """Nobody waits for it any more: unless somebody works on it already, it is forgotten."""
        with self._lock:
            if self._state != "waiting":
                return
            self._state = "over"
        self._forget()

    def done(self, answer: Json) -> None:
        """It was done, with this answer."""
        with self._lock:
            self._state = "over"
            self.answer = answer

    def failed(self) -> None:
        """It was not done: the same key may try again."""
        with self._lock:
            self._state = "over"
        self._forget()

    def _forget(self) -> None:
        if self._keys is not None:
            self._keys.forget(self._place, self)


class IdempotencyKeys:
    """The keys of the last requests, each with its answer. In memory, bounded, thread-safe."""

    def __init__(
        self,
        *,
        kept: float = KEPT,
        per_caller: int = PER_CALLER,
        in_all: int = IN_ALL,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kept = kept
        self._per_caller = per_caller
        self._in_all = in_all
        self._now = now
        # In the order in which they came.
        self._claims: dict[_Place, Claim] = {}
        self._lock = threading.Lock()

    def claim(self, caller: str, key: str | None, request: Json) -> Claim:
        """The claim of this request, whose `answer` is there if it was answered before.

        Raises `ProblemError` while the first one runs, and for a key of another request.
        """
        digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
        if key is None:
            return Claim(None, (caller, ""), digest)
        place = (caller, key)
        with self._lock:
            self._expire()
            known = self._claims.get(place)
            if known is None:
                known = Claim(self, place, digest)
                known.begun = self._now()
                self._claims[place] = known
                self._make_room(caller)
                return known
        if known.digest != digest:
            raise ProblemError("key_reused", "this Idempotency-Key came with another request")
        if known.answer is None:
            raise ProblemError(
                "in_flight", "the first request with this key still runs", retry_after=_RETRY
            )
        return known

    def forget(self, place: _Place, claim: Claim) -> None:
        """Drop a claim that came to nothing."""
        with self._lock:
            if self._claims.get(place) is claim:
                del self._claims[place]

    def __len__(self) -> int:
        return len(self._claims)

    def _expire(self) -> None:
        last = self._now() - self._kept
        for place in [p for p, c in self._claims.items() if c.answer and c.begun < last]:
            del self._claims[place]

    def _make_room(self, caller: str) -> None:
        """Drop the oldest answers beyond what is kept; what runs stays."""
        answered = [place for place, claim in self._claims.items() if claim.answer]
        own = [place for place in answered if place[0] == caller]
        crowded = sum(place[0] == caller for place in self._claims) - self._per_caller
        for place in own[: max(crowded, 0)]:
            del self._claims[place]
            answered.remove(place)
        for place in answered[: max(len(self._claims) - self._in_all, 0)]:
            del self._claims[place]
