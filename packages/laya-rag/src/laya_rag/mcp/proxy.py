"""A server that passes every call on to a running `laya mcp --http`.

Agent hosts that start a process for each conversation then share one service, which holds the
models once. Needs the extra `laya-rag[mcp]`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from laya_rag.serving.errors import ServerSetupError
from laya_rag.serving.transport import Transport

logger = logging.getLogger(__name__)

R = TypeVar("R")
Context = ServerRequestContext[Any, Any]
Page = types.PaginatedRequestParams | None

_CONNECT = 10.0
# An adjudication or an index run may take long; the client decides when it has waited enough.
_READ = 3600.0
_UNIX = "unix:"


@dataclass(frozen=True, slots=True)
class Service:
    """Where a service listens, and the token to show it.

    `url` is `http://…`, `https://…` or `unix:PATH`. Raises `ServerSetupError` for anything else,
    and for plain HTTP beyond this machine: the token and the passages would be open to be read.
    """

    url: str
    token: str | None = None

    def __post_init__(self) -> None:
        if self.url.startswith(_UNIX):
            return
        try:
            parts = urlsplit(self.url)
            port = parts.port or 80
        except ValueError as error:
            raise ServerSetupError(f"{self.url!r} is no address: {error}") from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ServerSetupError(f"--connect wants http(s)://HOST:PORT/mcp, not {self.url!r}")
        if parts.username or parts.password:
            raise ServerSetupError("--connect takes no password: set LAYA_MCP_TOKEN")
        if parts.scheme == "http" and not Transport(parts.hostname, port).loopback:
            raise ServerSetupError(f"{parts.hostname} is another machine: connect with https")

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """A connected client; raises `ServerSetupError` when nobody answers."""
        headers = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        url, transport = self.url, None
        if self.url.startswith(_UNIX):
            path = self.url.removeprefix(_UNIX)
            url, transport = "http://localhost/mcp", httpx2.AsyncHTTPTransport(uds=path)
        timeout = httpx2.Timeout(_CONNECT, read=_READ)
        async with httpx2.AsyncClient(
            headers=headers, timeout=timeout, transport=transport, trust_env=False
        ) as http:
            client = Client(streamable_http_client(url, http_client=http))
            try:
                await client.__aenter__()
            except (MCPError, OSError, httpx2.HTTPError, ExceptionGroup) as error:
                raise ServerSetupError(
                    f"no service answers at {self.url}: start one with `laya mcp --http`, and "
                    f"set LAYA_MCP_TOKEN if it wants a token ({_reason(error)})"
                ) from error
            try:
                yield client
            finally:
                await client.__aexit__(None, None, None)


def proxy_server(client: Client) -> Server[Any]:
    """A server that passes on to `client` what it is asked; errors come back as they are."""
    proxy = _Proxy(client)
    offered = client.server_capabilities
    return Server(
        "laya",
        title="Laya retrieval",
        instructions=client.instructions,
        on_list_tools=proxy.list_tools,
        on_call_tool=proxy.call_tool,
        on_list_resources=proxy.list_resources if offered.resources else None,
        on_list_resource_templates=proxy.list_templates if offered.resources else None,
        on_read_resource=proxy.read_resource if offered.resources else None,
        on_list_prompts=proxy.list_prompts if offered.prompts else None,
        on_get_prompt=proxy.get_prompt if offered.prompts else None,
    )


class _Proxy:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def list_tools(self, context: Context, params: Page) -> types.ListToolsResult:  # noqa: ARG002
        return await _passed(self._client.session.list_tools(params=params))

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        return await _passed(
            self._client.session.call_tool(
                params.name,
                params.arguments,
                progress_callback=context.session.report_progress,
            )
        )

    async def list_resources(self, context: Context, params: Page) -> types.ListResourcesResult:  # noqa: ARG002
        return await _passed(self._client.session.list_resources(params=params))

    async def list_templates(
        self,
        context: Context,  # noqa: ARG002
        params: Page,
    ) -> types.ListResourceTemplatesResult:
        return await _passed(self._client.session.list_resource_templates(params=params))

    async def read_resource(
        self,
        context: Context,  # noqa: ARG002
        params: types.ReadResourceRequestParams,
    ) -> types.ReadResourceResult:
        return await _passed(self._client.session.read_resource(params.uri))

    async def list_prompts(self, context: Context, params: Page) -> types.ListPromptsResult:  # noqa: ARG002
        return await _passed(self._client.session.list_prompts(params=params))

    async def get_prompt(
        self,
        context: Context,  # noqa: ARG002
        params: types.GetPromptRequestParams,
    ) -> types.GetPromptResult:
        return await _passed(self._client.session.get_prompt(params.name, params.arguments))


async def _passed(answer: Awaitable[R]) -> R:
    """The service's answer or error; what went wrong on the way is named, not shown."""
    try:
        return await answer
    except MCPError:
        raise
    except Exception as error:
        logger.exception("the service did not answer")
        raise MCPError(
            types.INTERNAL_ERROR, f"the service did not answer: {type(error).__name__}"
        ) from None


def _reason(error: BaseException) -> str:
    """The innermost of what went wrong."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
