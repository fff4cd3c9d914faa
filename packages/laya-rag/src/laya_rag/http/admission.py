"""Who may call: a token and a rate for everything but the page and the probes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from laya_rag.http.layer import Layer
from laya_rag.http.problems import ProblemError
from laya_rag.serving.auth import OWNER, BearerAuth, Caller, bearer
from laya_rag.serving.auth import Scope as Allowed
from laya_rag.serving.errors import UnauthorizedError
from laya_rag.serving.rate import RateLimiter

#: What needs a token where there are tokens, with everything below it.
GUARDED = ("/v1", "/metrics")

_CHALLENGE = 'Bearer realm="laya"'


class Admission(Layer):
    """Refuses who has no token or calls too often, before anything of the request is read."""

    def __init__(self, app: ASGIApp, *, auth: BearerAuth | None, rate: RateLimiter | None) -> None:
        super().__init__(app)
        self._auth = auth
        self._rate = rate

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `Layer`."""
        if _guarded(scope["path"]):
            caller = self._caller(Headers(scope=scope).get("authorization"))
            if self._rate is not None:
                self._rate.take(caller.name)
            scope["state"]["caller"] = caller
        await self.app(scope, receive, send)

    def _caller(self, header: str | None) -> Caller:
        if self._auth is None:
            return OWNER
        token = bearer(header)
        try:
            return self._auth.caller(token)
        except UnauthorizedError:
            # RFC 6750: without any token, the challenge says nothing of an error.
            challenge = _CHALLENGE if token is None else f'{_CHALLENGE}, error="invalid_token"'
            raise ProblemError(
                "unauthorized",
                "send Authorization: Bearer and a token of this server",
                headers={"WWW-Authenticate": challenge},
            ) from None


class ReadRoute(APIRoute):
    """A route for callers with the scope `needs`, which is looked at before the body is read."""

    needs: ClassVar[Allowed] = "read"

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler behind the check."""
        handler = super().get_route_handler()

        async def checked(request: Request) -> Response:
            if self.needs not in caller_of(request).scopes:
                raise ProblemError(
                    "forbidden",
                    f"this takes the scope {self.needs}",
                    headers={
                        "WWW-Authenticate": f'{_CHALLENGE}, error="insufficient_scope", '
                        f'scope="{self.needs}"'
                    },
                )
            return await handler(request)

        return checked


class WriteRoute(ReadRoute):
    """A route for callers that may write."""

    needs: ClassVar[Allowed] = "write"


def caller_of(request: Request) -> Caller:
    """Who calls; known for every guarded address."""
    caller: Caller = request.scope["state"]["caller"]
    return caller


def _guarded(path: str) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in GUARDED)
