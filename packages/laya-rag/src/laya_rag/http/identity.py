"""Which request this is: X-Request-ID and W3C Trace Context, echoed on every answer."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from laya_rag.http.layer import Layer

REQUEST_ID = "X-Request-ID"
TRACE = "traceparent"

_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
# https://www.w3.org/TR/trace-context/#traceparent-header
_TRACE = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")


@dataclass(frozen=True, slots=True)
class Trace:
    """A span of a trace: 32 and 16 hex digits, and two of flags."""

    trace_id: str
    span_id: str
    flags: str

    @classmethod
    def following(cls, header: str | None) -> Trace:
        """A new span in the trace of a `traceparent` header; in a new trace without a valid one.

        As the recommendation has it: version ff, ids of zeros, and a version 00 with anything
        behind it are not valid; what a later version adds is not looked at.
        """
        match = _TRACE.fullmatch(header or "")
        span = _random(8)
        if match is None:
            return cls(_random(16), span, "00")
        version, trace, parent, flags, more = match.groups()
        if version == "ff" or (version == "00" and more) or not trace.strip("0"):
            return cls(_random(16), span, "00")
        if not parent.strip("0"):
            return cls(_random(16), span, "00")
        # Of the flags, only the one that says `sampled` is known.
        return cls(trace, span, f"{int(flags, 16) & 1:02x}")

    def __str__(self) -> str:
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"


class RequestIdentity(Layer):
    """Gives each request its id and its span, in `scope["state"]` and on the answer.

    An id that the caller gave is kept if it is one to 128 plain characters; it ends up in a log.
    """

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `Layer`."""
        headers = Headers(scope=scope)
        given = headers.get(REQUEST_ID, "")
        request_id = given if _ID.fullmatch(given) else secrets.token_hex(16)
        traces = headers.getlist(TRACE)
        trace = str(Trace.following(traces[0] if len(traces) == 1 else None))
        scope["state"] = {**scope.get("state", {}), "request_id": request_id, "trace": trace}

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                answer[REQUEST_ID] = request_id
                answer[TRACE] = trace
            await send(message)

        await self.app(scope, receive, named)


def _random(size: int) -> str:
    """So many random bytes in hex, not all of them zero."""
    while True:
        value = secrets.token_bytes(size)
        if any(value):
            return value.hex()
