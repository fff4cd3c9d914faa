"""Opaque cursors: where a listing goes on, for the query and the corpus that it began with."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from typing import Any

from laya_rag.http.problems import FieldError, ProblemError

_TAG = 16


class Cursors:
    """Makes and reads cursors, by a key that ends with the process.

    A cursor holds the key of the last row that was shown, which its holder has seen, and a tag
    over that and over what the listing was made from. So it goes on with this one listing of this
    one corpus, as this caller sees it, and cannot be changed.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(32)

    def make(self, after: str | int, listing: Any) -> str:
        """A cursor behind the row `after`; `listing` is plain JSON that says which listing."""
        row = _packed(after)
        token = self._tag(row, listing) + row
        return base64.urlsafe_b64encode(token).rstrip(b"=").decode()

    def read(self, cursor: str, listing: Any) -> Any:
        """The row that `cursor` stands behind; raises `ProblemError` for any other cursor.

        The same error whether the cursor was changed, is another listing's or the corpus's before
        it changed: which it was, a caller may not be allowed to know.
        """
        try:
            token = base64.b64decode(
                cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True
            )
        except (UnicodeEncodeError, binascii.Error):
            raise _refused() from None
        tag, row = token[:_TAG], token[_TAG:]
        if not hmac.compare_digest(tag, self._tag(row, listing)):
            raise _refused()
        return json.loads(row)

    def _tag(self, row: bytes, listing: Any) -> bytes:
        bound = _packed(listing)
        message = len(bound).to_bytes(8, "big") + bound + row
        return hmac.new(self._key, message, hashlib.sha256).digest()[:_TAG]


def _refused() -> ProblemError:
    return ProblemError(
        "invalid_cursor",
        "it was changed, or is another listing's, or the corpus changed since: begin without one",
        errors=[
            FieldError(place="query", pointer="/cursor", detail="is no cursor of this listing")
        ],
    )


def _packed(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()
