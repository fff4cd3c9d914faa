"""A server over standard input and output. Needs the extra `laya-rag[mcp]`."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client until it closes our standard input.

    Nothing but the protocol gets to standard output. The SDK points its descriptor at standard
    error meanwhile, which catches libraries in C and child processes; Python's `print` is sent
    there too, for what it holds in its buffer would come out at the end, when the descriptor is
    back.
    """
    async with stdio_server() as (incoming, outgoing):
        try:
            with redirect_stdout(sys.stderr):
                await server.run(incoming, outgoing, server.create_initialization_options())
        finally:
            # What went past the redirection leaves the buffer while the descriptor is diverted.
            sys.stdout.flush()
