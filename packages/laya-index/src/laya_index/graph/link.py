"""Links in the one form that all spellings of a target share."""

from __future__ import annotations

import posixpath
from urllib.parse import urlsplit, urlunsplit

_WEB = ("http", "https")


def canonical_link(target: str, document: str) -> str | None:
    """A web address without its fragment, or the path of another document; None for others.

    A relative target is resolved against `document`, the name of the document that holds it.

    >>> canonical_link("HTTPS://Example.com/a/#top", ""), canonical_link("../b.md#x", "docs/a.md")
    ('https://example.com/a', 'b.md')
    """
    try:
        parts = urlsplit(target)
    except ValueError:
        return None
    if parts.scheme in _WEB:
        host = parts.netloc.rpartition("@")[2].lower()  # never who logs in there
        return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), parts.query, ""))
    if parts.scheme or parts.netloc or not parts.path:
        return None
    path = posixpath.join(posixpath.dirname(document), parts.path)
    return posixpath.normpath(path).lstrip("/") or None
