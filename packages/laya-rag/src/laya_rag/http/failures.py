"""From what was raised to the problem that the caller is told."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, cast

from fastapi.exceptions import RequestValidationError
from laya_index.errors import IndexingError, LockedError, UnknownDocumentError
from laya_retrieval.errors import FilterError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from laya_rag import errors as engine
from laya_rag.http.layer import Layer
from laya_rag.http.leaving import ClientGoneError
from laya_rag.http.metrics import Metrics
from laya_rag.http.problems import FieldError, Place, ProblemError, invalid, pointer_of
from laya_rag.serving import errors as serving

logger = logging.getLogger(__name__)

_BY_STATUS = {
    404: ("not_found", "there is nothing at this address"),
    405: ("method_not_allowed", "this address takes other methods, see Allow"),
    413: ("body_too_large", "the body is longer than this server takes"),
}


def problem_of(error: Exception) -> ProblemError:
    """The problem that the caller is told; `internal_error` for what nobody foresaw."""
    match error:
        case ProblemError():
            return error
        case engine.AccessError():
            return ProblemError("forbidden", "this caller may not do that")
        case HTTPException(status_code=413):
            return ProblemError(
                "body_too_large", _BY_STATUS[413][1], headers=dict(error.headers or {})
            )
        case engine.NotFoundError():
            return ProblemError("not_found", "no such document or record")
        case UnknownDocumentError():
            return ProblemError("not_found", "an id or a pattern names no document of the index")
        case engine.QueryError():
            return ProblemError("invalid_request", str(error))
        case FilterError():
            return invalid(
                "body", "/filters", "this corpus has no such field, or cannot filter by it"
            )
        case engine.OverloadedError():
            return ProblemError(
                "overloaded", "too much is running and waiting; ask again later", retry_after=1
            )
        case engine.StoppedError():
            return ProblemError("stopped", "the work was stopped before it ended", retry_after=1)
        case LockedError():
            return ProblemError("index_busy", "another process changes the index", retry_after=5)
        case serving.RateLimitedError():
            return ProblemError("rate_limited", str(error), retry_after=round(error.retry_after, 3))
        case IndexingError():
            return ProblemError(
                "index_failed", "the index is as it was; the operator's log says what failed"
            )
    return ProblemError(
        "internal_error", "the operator's log has what failed, under this request_id"
    )


def failed_event(error: Exception, scope: Scope) -> dict[str, Any]:
    """The end of a stream that failed after it began; the operator is told as usual."""
    problem = problem_of(error)
    log_failure(problem, error, scope)
    document = problem.document(scope)
    kept = {key: document[key] for key in ("code", "detail", "request_id")}
    return {"event": "error", **kept}


class Failures(Layer):
    """Answers with a problem whatever is raised; what the server is to blame for is logged."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        super().__init__(app)
        self._metrics = metrics

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `Layer`."""
        begun = False

        async def noting(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, noting)
        except ClientGoneError:
            return
        except Exception as error:
            problem = problem_of(error)
            log_failure(problem, error, scope)
            if problem.code == "overloaded":
                self._metrics.refusal()
            if begun:
                raise  # half an answer is out: the server closes the connection
            await problem.response(scope)(scope, receive, send)


def log_failure(problem: ProblemError, error: Exception, scope: Scope) -> None:
    """Tell the operator of a failure that is not the caller's; never with the query."""
    if problem.code in ("internal_error", "index_failed"):
        logger.error("request %s failed", scope["state"]["request_id"], exc_info=error)


async def on_http_exception(request: Request, error: Exception) -> Response:
    """What the framework refuses: an unknown address, another method, a body that is too long."""
    refused = cast(HTTPException, error)
    code, detail = _BY_STATUS.get(refused.status_code, ("http_error", "the request was refused"))
    if refused.status_code == 400:
        code, detail = "malformed_body", "the body cannot be read as JSON"
    own = code in ("http_error",)
    problem = ProblemError(
        code,
        detail,
        headers=dict(refused.headers or {}),
        status=refused.status_code if own else None,
    )
    return problem.response(request.scope)


async def on_invalid_request(request: Request, error: Exception) -> Response:
    """Values that are not what the schema says: each with its pointer, none with its value."""
    found = cast(RequestValidationError, error).errors()
    return _invalid_request(request, found).response(request.scope)


def _invalid_request(request: Request, found: Sequence[Any]) -> ProblemError:
    if found[0]["type"] == "json_invalid":
        return ProblemError("malformed_body", "the body cannot be read as JSON")
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = [item for item in found if item["loc"] == ("body",)]
    if body and body[0]["type"] != "missing" and not _is_json(media):
        return ProblemError("unsupported_media_type", "send application/json")
    errors = [_field_error(item) for item in found]
    first = errors[0]
    return ProblemError(
        "invalid_request", f"{first.pointer or first.place}: {first.detail}", errors=errors
    )


def _is_json(media: str) -> bool:
    return media == "application/json" or (
        media.startswith("application/") and media.endswith("+json")
    )


def _field_error(item: Any) -> FieldError:
    place, *parts = item["loc"]
    detail = item["msg"].removeprefix("Value error, ")
    return FieldError(place=cast(Place, place), pointer=pointer_of(parts), detail=detail)
