"""The resources: their addresses, and the call of a tool that each of them stands for."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from laya_rag.serving.errors import InvalidArgumentsError, NotFoundError

STATS = "laya://stats"
DOCUMENTS = "laya://documents"
TEMPLATE = "laya://documents/{document_id}"

#: A tool and its arguments.
Call = tuple[str, dict[str, Any]]


def document_uri(document_id: str, after: int | None = None) -> str:
    """The address of a document, or of what is behind a passage of it."""
    uri = f"{DOCUMENTS}/{quote(document_id, safe='')}"
    return uri if after is None else f"{uri}?after={after}"


def call_of(uri: str) -> Call:
    """What to call for a resource; raises `NotFoundError` for an address that is none.

    `laya://documents?after=ID` is the next page of the listing, `laya://documents/ID?after=N`
    what is behind passage N; an id is percent-encoded, slashes too.
    """
    parts = urlsplit(uri)
    query = parse_qs(parts.query, keep_blank_values=True)
    unknown = NotFoundError("there is no such resource")
    if parts.scheme != "laya" or parts.fragment or set(query) - {"after"}:
        raise unknown
    after = query.get("after", [None])[-1]
    if parts.netloc == "stats" and parts.path in ("", "/") and not query:
        return "corpus_stats", {}
    if parts.netloc != "documents":
        raise unknown
    document_id = unquote(parts.path.removeprefix("/"))
    if not document_id:
        return "list_documents", {"after": after, "limit": 200}
    if after is not None and not (after.isascii() and after.isdigit() and len(after) < 10):
        raise unknown
    behind = None if after is None else int(after)
    return "read_document", {"document_id": document_id, "after": behind, "limit": 100}


def cursor_of(after: str) -> str:
    """An opaque cursor for the listing behind a document."""
    return base64.urlsafe_b64encode(json.dumps(after).encode()).decode()


def after_of(cursor: str | None) -> str | None:
    """The document behind which a cursor goes on; raises `InvalidArgumentsError`."""
    if cursor is None:
        return None
    try:
        after = json.loads(base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        after = None
    if not isinstance(after, str):
        raise InvalidArgumentsError("cursor: is none that this server gave")
    return after
