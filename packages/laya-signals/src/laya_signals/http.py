"""What the clients of HTTP servers share: addresses, keys, and how a server's words are read."""

from __future__ import annotations

import json
import math
import os
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from pydantic import SecretStr

from laya_signals.errors import ConfigError

_SHOWN = 200  # characters of a server's words in an error


def server_address(url: str) -> str:
    """A server's address without a slash at its end; raises `ValueError` for what is none."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("a server's address begins with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("put the key into api_key, not into the address")
    if parts.query or parts.fragment:
        raise ValueError("a server's address has no query and no fragment")
    return url.rstrip("/")


def read_key(given: SecretStr | None, variable: str | None, owner: str) -> str | None:
    """The key that was given, or that the environment variable holds; None without either.

    Raises `ConfigError`, which names `owner` and never the key, when the variable is not set or
    when what is there cannot be sent as a header.
    """
    if given is not None:
        name, key = "api_key", given.get_secret_value()
    elif variable is not None:
        name = f"the environment variable {variable}"
        if not (key := os.environ.get(variable, "")):
            raise ConfigError(f"{owner}: {name} is not set")
    else:
        return None
    key = key.strip()  # a key that was read from a file ends with a line break
    # What cannot be a header would come back in the words of the error about it.
    if not key or not all("!" <= letter <= "~" for letter in key):
        raise ConfigError(f"{owner}: {name} holds no key")
    return key


def retry_after(header: str | None) -> float | None:
    """Seconds that a server asks to wait, in either form of the header; None where unreadable."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def server_words(text: str, field: str, key: str | None) -> str:
    """What a server says about an error, in one line and cut short.

    That is `field` of its JSON, or the `message` in it, else the text as it is; without the key
    that it may have echoed.
    """
    try:
        content = json.loads(text)
    except ValueError:
        content = None
    if isinstance(content, dict) and field in content:
        found = content[field]
        if isinstance(found, dict) and isinstance(found.get("message"), str):
            found = found["message"]
        text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return " ".join(without_key(key, text).split())[:_SHOWN]


def without_key(key: str | None, text: str) -> str:
    """A text without the key that it may hold."""
    return text.replace(key, "***") if key else text
