"""The problems of each route, for the API description."""

from __future__ import annotations

from typing import Any

from laya_rag.http.problems import KINDS, MEDIA_TYPE
from laya_rag.http.streams import NDJSON, SSE

#: Everywhere: whatever the request is, it can end like this.
_ALWAYS = ("foreign_origin", "wrong_host", "internal_error")
_GUARDED = (*_ALWAYS, "unauthorized", "forbidden", "rate_limited", "body_too_large")
_CORPUS = (*_GUARDED, "invalid_request", "overloaded", "not_ready", "stopped")
_WITH_BODY = ("malformed_body", "unsupported_media_type")
_WRITTEN = ("in_flight", "key_reused", "read_only", "index_busy", "index_failed")

_GROUPS: dict[str, tuple[str, ...]] = {
    "open": _ALWAYS,
    "probe": (*_ALWAYS, "not_ready"),
    "guarded": _GUARDED,
    "listed": (*_CORPUS, "invalid_cursor", "not_found"),
    "asked": (*_CORPUS, *_WITH_BODY, "not_found"),
    "streamed": (*_CORPUS, *_WITH_BODY, "not_supported"),
    "written": (*_CORPUS, *_WITH_BODY, *_WRITTEN, "not_found"),
}


def problems(group: str, *more: str) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: each status with its codes, as `application/problem+json`."""
    codes = dict.fromkeys((*_GROUPS[group], *more))
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(KINDS[code].status, []).append(code)
    return {
        status: {
            "description": "; ".join(f"`{code}`: {KINDS[code].title}" for code in found),
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, found in sorted(by_status.items())
    }


def events(description: str, event: Any) -> dict[str, Any]:
    """The documented answer of a stream: `event` is the type of one line, or of one `data`."""
    schema = {"$ref": f"#/components/schemas/{event.__name__}"}
    return {
        "description": description,
        "content": {NDJSON: {"schema": schema}, SSE: {"schema": schema}},
    }
