"""The core over streamable HTTP. Needs the extra `laya-rag[mcp]`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from laya_rag.mcp.core import RetrievalServer
from laya_rag.mcp.sdk import sdk_server
from laya_rag.serving.auth import bearer
from laya_rag.serving.errors import UnauthorizedError

#: Where the protocol is spoken.
PATH = "/mcp"
DEFAULT_PORT = 8078
#: No call needs more: the longest argument is an answer of 50,000 characters.
BODY_LIMIT = 1024 * 1024
SESSION_LIMIT = 1000
SESSION_IDLE = 30 * 60.0

_LOCAL = ("127.0.0.1", "localhost", "[::1]")


def http_app(
    core: RetrievalServer,
    *,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
    server: Server[Any] | None = None,
    body_limit: int = BODY_LIMIT,
) -> Starlette:
    """The application: `/mcp`, and `/healthz` for whoever watches over it.

    A request must name a host of `hosts`, and come from no page or one of `origins`; loopback is
    always allowed, with any port. Without that check any page that the user opens could reach a
    server on the user's machine. With tokens, a request without a good one is answered with 401
    before anything else happens, and a session belongs to the caller who began it.
    """
    manager = StreamableHTTPSessionManager(
        server or sdk_server(core),
        security_settings=TransportSecuritySettings(
            allowed_hosts=[*_LOCAL, *(f"{host}:*" for host in _LOCAL), *hosts],
            allowed_origins=[
                *(f"http://{host}{port}" for host in _LOCAL for port in ("", ":*")),
                *origins,
            ],
        ),
        max_request_body_size=body_limit,
        max_sessions=SESSION_LIMIT,
        session_idle_timeout=SESSION_IDLE,
    )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001
        async with manager.run():
            yield

    app = Starlette(
        routes=[
            Route(PATH, endpoint=_Gate(StreamableHTTPASGIApp(manager), core)),
            Route("/healthz", endpoint=_healthy, methods=["GET"]),
        ],
        lifespan=lifespan,
    )
    app.state.manager = manager
    return app


class _Gate:
    """Lets through who has a token, before anything of the request is read."""

    def __init__(self, app: ASGIApp, core: RetrievalServer) -> None:
        self._app = app
        self._core = core

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._core.auth is not None:
            try:
                token = bearer(Request(scope).headers.get("authorization"))
                caller = self._core.admit(token)
            except UnauthorizedError as error:
                refusal = JSONResponse(
                    {"error": error.to_json()},
                    status_code=401,
                    headers={"WWW-Authenticate": 'Bearer realm="laya"'},
                )
                await refusal(scope, receive, send)
                return
            # The SDK ties a session to this name: nobody goes on with another's session.
            access = AccessToken(token="", client_id=caller.name, scopes=sorted(caller.scopes))
            scope["user"] = AuthenticatedUser(access)
        await self._app(scope, receive, send)


async def _healthy(request: Request) -> JSONResponse:  # noqa: ARG001
    return JSONResponse({"status": "ok"})
