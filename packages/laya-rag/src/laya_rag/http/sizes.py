"""How large a body may be, and answers made smaller."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from laya_rag.http.layer import Layer
from laya_rag.http.streams import NDJSON

#: No request needs more: the longest is an answer with its passages.
BODY_LIMIT = 4 * 1024 * 1024
_LEAST = 1000
_LEVEL = 6
# A longer number is beyond any limit.
_DIGITS = 18

# Without this the rest of the body would be taken for the next request, or read to be dropped.
_CLOSE = {"Connection": "close"}


class BodyLimit(Layer):
    """Refuses bodies beyond `limit` bytes, by what they say and by what they turn out to be."""

    def __init__(self, app: ASGIApp, *, limit: int) -> None:
        super().__init__(app)
        self._limit = limit

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `Layer`."""
        length = Headers(scope=scope).get("content-length", "")
        if len(length) > _DIGITS or (length.isdecimal() and int(length) > self._limit):
            raise _too_large()
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._limit:
                raise _too_large()
            return message

        await self.app(scope, counted, send)


class Compressed(GZipMiddleware):
    """Gzip for who accepts it, except for what is streamed."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(
            app,
            minimum_size=_LEAST,
            compresslevel=_LEVEL,
            exclude_content_types=(*DEFAULT_EXCLUDED_CONTENT_TYPES, NDJSON),
        )


def _too_large() -> HTTPException:
    return HTTPException(413, headers=_CLOSE)
