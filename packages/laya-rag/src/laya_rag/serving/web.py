"""Serving an application over a socket. Needs uvicorn, of `laya-rag[serve]` and `[mcp]`."""

from __future__ import annotations

import socket

import uvicorn
from starlette.types import ASGIApp

_GRACE = 5
_KEEP_ALIVE = 20


def web_server(app: ASGIApp) -> uvicorn.Server:
    """What serves the application; a signal ends it, and what runs then has five seconds."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE,
            # Longer than clients keep an idle connection, or one would be closed under a request.
            timeout_keep_alive=_KEEP_ALIVE,
            ws="none",
        )
    )


async def serve(app: ASGIApp, listener: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM."""
    try:
        await web_server(app).serve(sockets=[listener])
    finally:
        listener.close()
