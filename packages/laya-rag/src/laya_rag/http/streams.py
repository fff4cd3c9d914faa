"""Events as they happen, from a working thread to the client: NDJSON, or SSE by Accept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from laya_rag.engine import CancelToken
from laya_rag.errors import StoppedError
from laya_rag.http.leaving import disconnected

NDJSON = "application/x-ndjson"
SSE = "text/event-stream"

#: Seconds of silence after which a sign of life is sent, so that nothing between closes the line.
HEARTBEAT = 10.0
#: Events that may wait for a slow reader before the work waits too.
_WAITING = 64
# How often work that waits for its reader looks whether the reader is still there.
_LOOK = 0.2

Json = dict[str, Any]
#: Gives the loop an event; raises `StoppedError` once nobody reads any more.
Emit = Callable[[Json], None]


class Relay:
    """Events from a thread to the event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.queue: asyncio.Queue[Json] = asyncio.Queue(_WAITING)

    def put(self, event: Json, cancel: CancelToken) -> None:
        """Hand an event over, waiting while too many wait; raises `StoppedError` when cancelled."""
        cancel.check()
        handed = asyncio.run_coroutine_threadsafe(self.queue.put(event), self._loop)
        while True:
            try:
                handed.result(_LOOK)
            except TimeoutError:
                if not cancel.cancelled:
                    continue
                handed.cancel()
                raise StoppedError("nobody reads the events any more") from None
            return

    def offer(self, event: Json) -> None:
        """Hand an event over, or drop it where too many wait: for news that the next replaces."""
        self._loop.call_soon_threadsafe(self._offer, event)

    def _offer(self, event: Json) -> None:
        if not self.queue.full():
            self.queue.put_nowait(event)


class EventStream:
    """What a piece of work tells while it runs, and how it ends.

    `work` is awaited in a task; what it returns is the last event, unless that is None. What it
    raises becomes one by `failed`.
    """

    def __init__(
        self,
        relay: Relay,
        work: Awaitable[Json | None],
        failed: Callable[[Exception], Json],
        *,
        heartbeat: float = HEARTBEAT,
    ) -> None:
        self._relay = relay
        self._failed = failed
        self._heartbeat = heartbeat
        self._work = asyncio.ensure_future(work)
        self._next = asyncio.ensure_future(relay.queue.get())

    async def begin(self) -> None:
        """Wait for a first event, but not for long; raises what the work raised before one."""
        try:
            await self._wait()
        except BaseException:
            await self.close()
            raise
        if self._work.done() and not self._next.done():
            error = None if self._work.cancelled() else self._work.exception()
            if error is not None:
                await self.close()
                raise error

    async def events(self) -> AsyncIterator[Json | None]:
        """The events until the work ended; None for a sign of life."""
        while True:
            await self._wait()
            if self._next.done():
                yield self._next.result()
                self._next = asyncio.ensure_future(self._relay.queue.get())
                await asyncio.sleep(0)  # the new wait takes what is there already
            elif self._work.done():
                break
            else:
                yield None
        try:
            last = await self._work
        except Exception as error:
            last = self._failed(error)
        if last is not None:
            yield last

    async def close(self) -> None:
        """Stop the work; a second time does nothing."""
        left = {task for task in (self._work, self._next) if not task.done()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
        if not self._work.cancelled():
            self._work.exception()  # looked at: nobody else will

    async def _wait(self) -> None:
        await asyncio.wait(
            {self._work, self._next},
            timeout=self._heartbeat,
            return_when=asyncio.FIRST_COMPLETED,
        )


class StreamResponse(Response):
    """Sends events one by one; when the client goes, the work stops."""

    def __init__(
        self,
        stream: EventStream,
        media_type: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        # A proxy must not wait for more either.
        super().__init__(headers={**(headers or {}), "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self.headers["Content-Type"] = media_type
        self._stream = stream
        self._frame = _sse if media_type.startswith(SSE) else _ndjson

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """ASGI."""
        sending = asyncio.ensure_future(self._send(send))
        gone = asyncio.ensure_future(disconnected(receive))
        try:
            await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            left = {task for task in (sending, gone) if not task.done()}
            for task in left:
                task.cancel()
            if left:
                await asyncio.wait(left)
            await self._stream.close()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for event in self._stream.events():
            body = self._frame(event)
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def media_type_of(accept: str) -> str:
    """NDJSON, or SSE for who would rather have that."""
    wanted = _weight(accept, SSE)
    return SSE if wanted[0] > 0 and wanted > _weight(accept, NDJSON) else NDJSON


def _weight(accept: str, media_type: str) -> tuple[float, int]:
    """How much a type is wanted, and how exactly it was named (RFC 9110, 12.5.1)."""
    found = [(0.0, -1)]
    for part in accept.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        ranges = (media_type, f"{media_type.partition('/')[0]}/*", "*/*")
        if name in ranges:
            found.append((_quality(parameters), len(ranges) - ranges.index(name)))
    # The most exact range that matches says how much.
    return max(found, key=lambda item: item[1])


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return min(1.0, max(0.0, float(value)))
            except ValueError:
                return 0.0
    return 1.0


def _ndjson(event: Json | None) -> bytes:
    return _json({"event": "heartbeat"} if event is None else event) + b"\n"


def _sse(event: Json | None) -> bytes:
    if event is None:
        return b": heartbeat\n\n"
    return b"event: " + str(event["event"]).encode() + b"\ndata: " + _json(event) + b"\n\n"


def _json(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
