"""What a call of a tool can end with instead of a result.

CallError
├── UnauthorizedError       no token or a wrong one, or the caller may not do this
├── InvalidArgumentsError   an argument is unknown, missing, or of another type than it must be
├── RateLimitedError        too many calls; `retry_after` says when there is room again
├── BackendFailedError      the corpus or a model failed; the message is the exception's type only
└── NotFoundError           no such tool, document or record among those that the caller may see
ServerSetupError            a token file, an address, a copy file or a root cannot be used
"""

from __future__ import annotations

from typing import Any, ClassVar

from laya_rag.errors import RagError


class ServerSetupError(RagError):
    """A token file, an address, a copy file or a root cannot be used; the message says why."""


class CallError(RagError):
    """A call that has no result; `code` is one of five."""

    code: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """`code` and `message`."""
        return {"code": self.code, "message": str(self)}


class UnauthorizedError(CallError):
    """No token or a wrong one, or the caller may not do this. Never says which."""

    code = "unauthorized"

    def __init__(self) -> None:
        super().__init__("this caller may not do that")


class InvalidArgumentsError(CallError):
    """An argument is unknown, missing, or of another type than it must be."""

    code = "invalid_arguments"


class RateLimitedError(CallError):
    """Too many calls; there is room again after `retry_after` seconds."""

    code = "rate_limited"

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"too many calls; try again in {retry_after:.1f} seconds")
        self.retry_after = retry_after

    def to_json(self) -> dict[str, Any]:
        """`code`, `message` and `retry_after`, seconds."""
        return {**super().to_json(), "retry_after": round(self.retry_after, 3)}


class BackendFailedError(CallError):
    """The corpus or a model failed.

    The message is the type of the exception and nothing else: its text may name folders, hosts,
    fields or records that the caller must not know of.
    """

    code = "backend_error"

    def __init__(self, error: BaseException) -> None:
        super().__init__(type(error).__name__)


class NotFoundError(CallError):
    """No such tool, document or record among those that the caller may see."""

    code = "not_found"
