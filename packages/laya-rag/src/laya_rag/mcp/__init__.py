"""Tools for agents over a corpus, in the Model Context Protocol.

What is exported here is the server without a transport, and needs no SDK; `laya_rag.mcp.sdk`,
`laya_rag.mcp.http` and `laya_rag.mcp.proxy` carry it, with the extra `laya-rag[mcp]`.
"""

from laya_rag.mcp.core import RetrievalServer
from laya_rag.mcp.results import ToolResult
from laya_rag.mcp.tools import ToolSpec
from laya_rag.mcp.wording import ServerCopy
from laya_rag.serving.auth import BearerAuth, Caller
from laya_rag.serving.errors import (
    BackendFailedError,
    CallError,
    InvalidArgumentsError,
    NotFoundError,
    RateLimitedError,
    ServerSetupError,
    UnauthorizedError,
)
from laya_rag.serving.rate import RateLimiter
from laya_rag.serving.source import EngineSource
from laya_rag.serving.transport import LoopbackTransport, Transport
from laya_rag.serving.writing import Writing

#: The environment variable that holds one token, for a server and for a client.
TOKEN_VARIABLE = "LAYA_MCP_TOKEN"  # noqa: S105

__all__ = [
    "BackendFailedError",
    "BearerAuth",
    "CallError",
    "Caller",
    "EngineSource",
    "InvalidArgumentsError",
    "LoopbackTransport",
    "NotFoundError",
    "RateLimitedError",
    "RateLimiter",
    "RetrievalServer",
    "ServerCopy",
    "ServerSetupError",
    "ToolResult",
    "ToolSpec",
    "Transport",
    "UnauthorizedError",
    "Writing",
]
