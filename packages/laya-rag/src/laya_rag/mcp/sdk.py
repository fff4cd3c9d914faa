"""The core as a server of the official SDK: tools, resources, prompts, progress, cancellation.

Needs the extra `laya-rag[mcp]`.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import Any, cast

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from laya_rag.engine.workers import Workers
from laya_rag.errors import OverloadedError, StoppedError
from laya_rag.mcp import prompts, resources
from laya_rag.mcp.core import RetrievalServer
from laya_rag.mcp.results import DocumentOutput, DocumentsOutput, ToolResult
from laya_rag.mcp.tools import ToolSpec
from laya_rag.serving import errors
from laya_rag.serving.auth import bearer

logger = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]
_PAGE = 100
_NOT_FOUND = -32002  # the protocol's code for a resource that does not exist


def sdk_server(
    core: RetrievalServer, *, workers: int = 2, waiting: int = 32, name: str = "laya"
) -> Server[Any]:
    """A server of the SDK that carries the calls of any transport to `core`.

    Work runs in `workers` threads; beyond `waiting` further calls, one is told to come back later.
    A cancelled call stops its work at the next stage.
    """
    served = _Served(core, workers, waiting)
    documents = core.has("list_documents")
    offered = any(core.has(tool) for prompt in prompts.PROMPTS.values() for tool in prompt.tools)
    return Server(
        name,
        version=version("laya-rag"),
        title="Laya retrieval",
        instructions=core.copy.instructions,
        lifespan=served.lifespan,
        on_list_tools=served.list_tools,
        on_call_tool=served.call_tool,
        on_list_resources=served.list_resources if documents else None,
        on_list_resource_templates=served.list_templates if documents else None,
        on_read_resource=served.read_resource if documents else None,
        on_list_prompts=served.list_prompts if offered else None,
        on_get_prompt=served.get_prompt if offered else None,
    )


class _Progress:
    """Progress from the thread that works to the loop that tells the client: the latest only."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._latest: tuple[float, float | None, str] | None = None

    def __call__(self, done: float, total: float | None, what: str) -> None:
        """Called in the thread that works."""
        self._loop.call_soon_threadsafe(self._put, (done, total, what))

    def _put(self, latest: tuple[float, float | None, str]) -> None:
        self._latest = latest
        self._news.set()

    async def _send(self) -> None:
        latest, self._latest = self._latest, None
        self._news.clear()
        if latest is not None:
            await self._context.session.report_progress(*latest)

    async def _forward(self) -> None:
        while True:
            await self._news.wait()
            await self._send()

    @asynccontextmanager
    async def forwarding(self) -> AsyncIterator[None]:
        """Tell the client while inside, and the last of it at the end."""
        task = asyncio.create_task(self._forward())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self._send()


class _Served:
    """The handlers of the protocol's requests."""

    def __init__(self, core: RetrievalServer, workers: int, waiting: int) -> None:
        self._core = core
        self._size = (workers, waiting)
        self._workers: Workers | None = None
        self._entered = 0

    @asynccontextmanager
    async def lifespan(self, server: Server[Any]) -> AsyncIterator[dict[str, Any]]:  # noqa: ARG002
        """Threads for as long as somebody is served."""
        self._entered += 1
        if self._workers is None:
            self._workers = Workers(*self._size)
        try:
            yield {}
        finally:
            self._entered -= 1
            if not self._entered:
                workers, self._workers = self._workers, None
                await workers.close()

    async def list_tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """All tools in one page."""
        _one_page(params)
        with _as_protocol_errors():
            tools = self._core.list_tools(_token(context))
        return types.ListToolsResult(tools=[_tool(tool) for tool in tools])

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """A tool's result; one of our errors is a result that says so, for the agent to read."""
        try:
            result = await self._call(context, params.name, params.arguments)
        except errors.CallError as error:
            if isinstance(error, errors.NotFoundError) and not self._core.has(params.name):
                raise MCPError(types.INVALID_PARAMS, str(error), error.to_json()) from None
            text = json.dumps(error.to_json(), ensure_ascii=False)
            return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
        return types.CallToolResult(
            content=[types.TextContent(text=_encodable(result.readable()))],
            structured_content=_plain(result),
        )

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """The statistics, the listing, and the documents a page at a time.

        Titles are left out: hosts show this list outside any fence.
        """
        cursor = None if params is None else params.cursor
        with _as_protocol_errors():
            after = resources.after_of(cursor)
            asked = {"after": after, "limit": _PAGE}
            page = cast(DocumentsOutput, await self._call(context, "list_documents", asked))
        shown = [
            types.Resource(
                uri=resources.document_uri(_encodable(row.document_id)),
                name=_encodable(row.document_id),
                mime_type="text/plain",
            )
            for row in page.documents
        ]
        if cursor is None:
            shown = [*_FIXED, *shown]
        return types.ListResourcesResult(
            resources=shown,
            next_cursor=None if page.after is None else resources.cursor_of(page.after),
        )

    async def list_templates(
        self,
        context: Context,  # noqa: ARG002
        params: types.PaginatedRequestParams | None,
    ) -> types.ListResourceTemplatesResult:
        """The one template."""
        _one_page(params)
        return types.ListResourceTemplatesResult(resource_templates=[_TEMPLATE])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """A resource: JSON for the statistics and the listing, fenced text for a document."""
        with _as_protocol_errors():
            tool, arguments = resources.call_of(params.uri)
            result = await self._call(context, tool, arguments)
        if isinstance(result, DocumentOutput):
            text, kind = result.readable(), "text/plain"
            if result.after is not None:
                more = resources.document_uri(result.document.document_id, result.after)
                text = f"{text}\n\nMore: {more}"
        else:
            text, kind = json.dumps(_plain(result), ensure_ascii=False), "application/json"
        return types.ReadResourceResult(
            contents=[
                types.TextResourceContents(uri=params.uri, mime_type=kind, text=_encodable(text))
            ]
        )

    async def list_prompts(
        self,
        context: Context,  # noqa: ARG002
        params: types.PaginatedRequestParams | None,
    ) -> types.ListPromptsResult:
        """The prompts whose tools there are."""
        _one_page(params)
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=prompt.name,
                    title=prompt.title,
                    description=prompt.description,
                    arguments=[
                        types.PromptArgument(
                            name=prompt.argument, description=prompt.about, required=True
                        )
                    ],
                )
                for prompt in prompts.PROMPTS.values()
            ]
        )

    async def get_prompt(
        self,
        context: Context,  # noqa: ARG002
        params: types.GetPromptRequestParams,
    ) -> types.GetPromptResult:
        """A prompt with its argument filled in."""
        with _as_protocol_errors():
            prompt, text = prompts.filled(params.name, params.arguments or {})
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def _call(self, context: Context, tool: str, arguments: Any) -> ToolResult:
        """The core's result or one of its errors, whatever happens in between."""
        progress = _Progress(context)
        if self._workers is None:
            raise errors.BackendFailedError(RuntimeError())
        try:
            async with progress.forwarding():
                return await self._workers.stoppable(
                    self._core.call, tool, arguments, _token(context), progress=progress
                )
        except errors.CallError:
            raise
        except OverloadedError:
            raise errors.RateLimitedError(1.0) from None
        except StoppedError as error:
            raise errors.BackendFailedError(error) from None
        except Exception as error:
            # The SDK would send an exception's text to the client.
            logger.exception("the call of %s failed", tool)
            raise errors.BackendFailedError(error) from None


class _as_protocol_errors:  # noqa: N801
    """Turns one of our errors into one of the protocol's."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, errors.CallError):
            code = types.INVALID_PARAMS
            if isinstance(error, errors.NotFoundError):
                code = _NOT_FOUND
            elif isinstance(error, errors.BackendFailedError):
                code = types.INTERNAL_ERROR
            raise MCPError(code, str(error), error.to_json()) from None


_FIXED = [
    types.Resource(
        uri=resources.STATS,
        name="stats",
        title="Corpus statistics",
        description="How many documents and passages there are.",
        mime_type="application/json",
    ),
    types.Resource(
        uri=resources.DOCUMENTS,
        name="documents",
        title="Documents",
        description="The documents by id, the first page.",
        mime_type="application/json",
    ),
]
_TEMPLATE = types.ResourceTemplate(
    uri_template=resources.TEMPLATE,
    name="document",
    title="A document",
    description="A document's passages in reading order. The id is percent-encoded.",
    mime_type="text/plain",
)


def _tool(tool: ToolSpec) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=dict(tool.output_schema),
        annotations=types.ToolAnnotations.model_validate(dict(tool.annotations)),
    )


def _token(context: Context) -> str | None:
    """The bearer token of the request that carried the call; None without a request."""
    header = None if context.request is None else context.request.headers.get("authorization")
    return bearer(header)


def _one_page(params: types.PaginatedRequestParams | None) -> None:
    if params is not None and params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "cursor: this list has one page")


def _plain(result: ToolResult) -> dict[str, Any]:
    """Plain JSON values whose texts can all be sent."""
    data: dict[str, Any] = json.loads(_encodable(json.dumps(result.model_dump(), allow_nan=False)))
    return data


def _encodable(text: str) -> str:
    """`text` without lone surrogates, which no transport can send."""
    return text.encode("utf-8", "replace").decode("utf-8")
