"""Who may reach the server through a browser: the host that was asked for, and the page's origin.

Any page that a user opens can send requests to a server on the user's machine, under a name of its
own (DNS rebinding) or across origins. So the host must be one of ours, and an origin the server's
own or one that the operator named.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from laya_rag.http.identity import REQUEST_ID, TRACE
from laya_rag.http.layer import Layer
from laya_rag.http.problems import ProblemError
from laya_rag.serving.errors import ServerSetupError

_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_NAME = r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])"
_HOST = re.compile(rf"{_NAME}(?::(?:\d+|\*))?")
_ORIGIN = re.compile(rf"https?://{_NAME}(?::\d+)?")
_METHODS = "GET, POST, DELETE"
_SENT = f"Authorization, Content-Type, Idempotency-Key, {REQUEST_ID}, {TRACE}, tracestate"
_SHOWN = f"{REQUEST_ID}, {TRACE}, Idempotency-Replayed, Retry-After"
#: Seconds for which a browser need not ask again.
_REMEMBERED = "600"


def checked_names(hosts: Sequence[str], origins: Sequence[str]) -> None:
    """Raise `ServerSetupError` for a host or an origin that no browser would ever send."""
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise ServerSetupError(
                f"a host to accept is a name, with a port or :* behind it, not {host!r}"
            )
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise ServerSetupError(
                f"an origin is such as https://page.example or http://localhost:3000, not "
                f"{origin!r}"
            )


class Origins(Layer):
    """Refuses other hosts and origins, and answers the browser's questions about those allowed.

    `hosts` are names with a port, or with `:*` for any; without a port, that of the scheme.
    """

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str], origins: Sequence[str]) -> None:
        super().__init__(app)
        self._hosts = frozenset(name.lower() for name in (*hosts, *(f"{x}:*" for x in _LOCAL)))
        self._origins = frozenset(origin.lower() for origin in origins)

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `Layer`."""
        headers = Headers(scope=scope)
        host = self._host(headers)
        origins = headers.getlist("origin")
        if not origins:
            await self.app(scope, receive, self._varying(send, None))
            return
        origin = origins[0].lower()
        own = origin.partition("://")[2] == host
        if len(origins) > 1 or not (own or origin in self._origins):
            raise ProblemError("foreign_origin", "start the server with --allow-origin for it")
        allowed = None if own else origin
        if scope["method"] == "OPTIONS" and "access-control-request-method" in headers and allowed:
            await _preflight(allowed)(scope, receive, send)
            return
        await self.app(scope, receive, self._varying(send, allowed))

    def _host(self, headers: Headers) -> str:
        """The host that was asked for; raises `ProblemError` for one that is not ours."""
        given = headers.getlist("host")
        host = given[0].lower() if len(given) == 1 else ""
        name = host[: host.rindex(":")] if _has_port(host) else host
        if not host or not ({host, f"{name}:*"} & self._hosts):
            raise ProblemError("wrong_host", "start the server with --allow-host for it")
        return host

    def _varying(self, send: Send, allowed: str | None) -> Send:
        """Tell the browser that the page of this origin may read the answer, and caches why."""
        if not self._origins:
            return send

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.add_vary_header("Origin")
                if allowed is not None:
                    headers["Access-Control-Allow-Origin"] = allowed
                    headers["Access-Control-Expose-Headers"] = _SHOWN
            await send(message)

        return marked


def _preflight(origin: str) -> Response:
    return Response(
        status_code=204,
        headers={
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Methods": _METHODS,
            "Access-Control-Allow-Headers": _SENT,
            "Access-Control-Max-Age": _REMEMBERED,
            "Vary": "Origin",
        },
    )


def _has_port(host: str) -> bool:
    return ":" in host and not host.endswith("]")
