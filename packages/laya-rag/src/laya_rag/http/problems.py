"""Problem documents (RFC 9457): everything that a request can end with instead of a result.

The codes are stable. What is said beside them never holds the text of an exception that came from
the corpus, a model or a file system, since that may name what the caller must not know of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse
from starlette.types import Scope

MEDIA_TYPE = "application/problem+json"

Place = Literal["body", "query", "path", "header"]


@dataclass(frozen=True, slots=True)
class Kind:
    """What every problem of one code has in common."""

    status: int
    title: str


KINDS: Mapping[str, Kind] = {
    "malformed_body": Kind(400, "The body is not what its Content-Type says"),
    "invalid_cursor": Kind(400, "The cursor does not belong to this listing"),
    "unauthorized": Kind(401, "A token is needed, and there is none or a wrong one"),
    "forbidden": Kind(403, "This caller may not do that"),
    "foreign_origin": Kind(403, "Pages of this origin may not call this server"),
    "read_only": Kind(403, "This server changes nothing"),
    "not_found": Kind(404, "There is no such thing"),
    "method_not_allowed": Kind(405, "This method is not for this address"),
    "index_busy": Kind(409, "The index is being changed"),
    "would_remove": Kind(409, "Documents would leave the index"),
    "needs_next_run": Kind(409, "Other documents depend on these"),
    "in_flight": Kind(409, "The request with this Idempotency-Key is still running"),
    "body_too_large": Kind(413, "The body is too large"),
    "unsupported_media_type": Kind(415, "The body must be JSON"),
    "wrong_host": Kind(421, "This server does not answer for that host"),
    "invalid_request": Kind(422, "Something in the request is wrong"),
    "key_reused": Kind(422, "The Idempotency-Key belongs to another request"),
    "rate_limited": Kind(429, "Too many requests"),
    "http_error": Kind(400, "The request cannot be answered"),
    "internal_error": Kind(500, "Something failed inside"),
    "index_failed": Kind(500, "The index could not be changed"),
    "not_supported": Kind(501, "This server cannot do that"),
    "overloaded": Kind(503, "Too much is waiting already"),
    "not_ready": Kind(503, "There is nothing to answer from yet"),
    "stopped": Kind(503, "The work was stopped"),
}


class FieldError(BaseModel):
    """What is wrong with one value: where it was, by a JSON Pointer (RFC 6901) within that."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    place: Place = Field(alias="in")
    pointer: str = Field(description='JSON Pointer, such as "/filters/title"; "" for all of it.')
    detail: str


class Problem(BaseModel):
    """A problem document; `code` is stable, and `request_id` is what the operator's log has."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(description="urn:laya:problem: and the code.")
    title: str
    status: int
    detail: str
    instance: str = Field(description="The path that was asked for.")
    code: str
    request_id: str
    errors: list[FieldError] | None = Field(default=None, description="By field, where known.")
    retry_after: float | None = Field(default=None, description="Seconds, as Retry-After has them.")


class ProblemError(Exception):
    """A request that ends with the problem `code`; `status` only where it is not the kind's own."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        errors: Sequence[FieldError] = (),
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.errors = tuple(errors)
        self.retry_after = retry_after
        self.headers = dict(headers or {})
        self.status = KINDS[code].status if status is None else status

    def document(self, scope: Scope) -> dict[str, Any]:
        """The document, for the request of `scope`."""
        shown: dict[str, Any] = {
            "type": f"urn:laya:problem:{self.code}",
            "title": KINDS[self.code].title,
            "status": self.status,
            "detail": self.detail,
            "instance": quote(scope["path"], errors="replace"),
            "code": self.code,
            "request_id": scope["state"]["request_id"],
        }
        if self.errors:
            shown["errors"] = [error.model_dump(by_alias=True) for error in self.errors]
        if self.retry_after is not None:
            shown["retry_after"] = self.retry_after
        return shown

    def response(self, scope: Scope) -> JSONResponse:
        """The document as an answer."""
        headers = dict(self.headers)
        if self.retry_after is not None:
            headers["Retry-After"] = str(max(1, math.ceil(self.retry_after)))
        return JSONResponse(
            self.document(scope), self.status, headers=headers, media_type=MEDIA_TYPE
        )


def invalid(place: Place, pointer: str, detail: str) -> ProblemError:
    """One value is wrong."""
    return ProblemError(
        "invalid_request",
        f"{pointer or place}: {detail}",
        errors=[FieldError(place=place, pointer=pointer, detail=detail)],
    )


def pointer_of(parts: Sequence[object]) -> str:
    """A JSON Pointer to the value at these keys and indexes."""
    return "".join("/" + str(part)[:80].replace("~", "~0").replace("/", "~1") for part in parts)
