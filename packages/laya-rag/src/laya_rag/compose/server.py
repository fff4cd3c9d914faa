"""The server of a language model: asked once, and again where it was busy."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

from laya_signals.http import read_key, retry_after, server_words

from laya_rag.compose.chat import Chat, Piece
from laya_rag.compose.errors import ErrorCode, ModelServerError
from laya_rag.compose.ollama import OllamaChat
from laya_rag.compose.openai import OpenAIChat
from laya_rag.compose.prompt import Message
from laya_rag.compose.wire import DeadlineError, Request, Wire
from laya_rag.config import ComposeSettings
from laya_rag.engine import CancelToken

CHATS: Mapping[str, type[Chat]] = MappingProxyType({"ollama": OllamaChat, "openai": OpenAIChat})

#: The same request may go through later.
BUSY = frozenset({429, 500, 502, 503, 504})

_MAX_WORDS = 2**16  # bytes of an error that are read
_PAUSE = 0.5  # seconds before the second try; doubles with each
_MAX_PAUSE = 30.0  # a server that asks for more is given up on
_LOOK = 0.05
_MISSING = re.compile(
    r"model\b.*\b(?:not found|not exist|no such|not a valid|not available|try pulling)", re.I | re.S
)
_TOO_LONG = re.compile(r"context (?:length|size|window)|too long|maximum.{0,30}tokens", re.I)


class ModelServer:
    """A server as the settings name it.

    Raises `ConfigError` when the variable of the key is not set, before anything is sent.
    """

    def __init__(self, settings: ComposeSettings) -> None:
        self._settings = settings
        self._chat = CHATS[settings.provider]()
        self._key = read_key(settings.api_key, settings.api_key_env, "compose")
        self._url = settings.address + self._chat.route

    def pieces(
        self, messages: Sequence[Message], cancel: CancelToken
    ) -> Generator[Piece, None, None]:
        """The pieces of the answer as they come; closing this closes the connection.

        The last has `ended`, unless the stream was cut off. A server that is busy or failed is
        asked again, as long as it has begun no answer. Raises `ModelServerError`, `DeadlineError`
        when the time for all of it is over, and `StoppedError` when `cancel` was used.
        """
        request = self._request(messages)
        for attempt in range(self._settings.retries + 1):
            with Wire(request, cancel) as wire:
                status, headers = wire.head()
                if status == 200:
                    yield from self._read(wire, headers)
                    return
                words = self._words(wire)
            pause = self._pause(attempt, status, headers, words)
            _sleep(pause, request.deadline, cancel)

    def _request(self, messages: Sequence[Message]) -> Request:
        settings = self._settings
        headers = {
            "Content-Type": "application/json",
            "Accept": self._chat.media_type,
            "Accept-Encoding": "identity",
        }
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        return Request(
            self._url,
            headers,
            json.dumps(self._chat.body(settings, messages), allow_nan=False).encode(),
            self._key,
            settings.idle_timeout,
            time.monotonic() + settings.timeout,
            proxies=not settings.loopback,
        )

    def _read(self, wire: Wire, headers: Mapping[str, str]) -> Iterator[Piece]:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        streams = {self._chat.media_type, "application/json", "text/event-stream", ""}
        if kind not in streams or (
            kind == "application/json" and self._chat.media_type == "text/event-stream"
        ):
            words = self._words(wire)
            raise self._error("bad_response", f"answered with {kind}, which is no stream", words)
        for found in self._chat.objects(wire.chunks()):
            if found.get("error"):
                words = server_words(json.dumps(found), "error", self._key)
                raise self._fault("failed", words)
            piece = self._chat.read(found, self._settings)
            yield piece
            if piece.ended:
                return

    def _pause(self, attempt: int, status: int, headers: Mapping[str, str], words: str) -> float:
        """Seconds until the next try; raises `ModelServerError` where another is no use."""
        if status not in BUSY or _TOO_LONG.search(words):
            raise self._refusal(status, words)
        tries = self._settings.retries + 1
        if attempt + 1 == tries:
            what = f"is still busy ({status})" if status in (429, 503) else f"answered {status}"
            code: ErrorCode = "server_busy" if status in (429, 503) else "model_error"
            after = f" after {tries} tries" if tries > 1 else ""
            raise self._error(code, f"{what}{after}", words, status)
        asked_for = retry_after(headers.get("retry-after"))
        if asked_for is None:
            # Spread, so that clients that were refused together do not come back together.
            spread = random.uniform(0.75, 1.25)  # noqa: S311 - no secret hangs on it
            return min(_MAX_PAUSE, _PAUSE * 2.0**attempt * spread)
        if asked_for > _MAX_PAUSE:
            what = f"is busy ({status}) and asks to come back in {asked_for:.0f} seconds"
            raise self._error("server_busy", what, "", status)
        return asked_for

    def _refusal(self, status: int, words: str) -> ModelServerError:
        if status in (401, 403):
            hint = "the key was refused" if self._key else "give compose.api_key_env"
            return self._error(
                "model_unauthorized", f"asks for a key ({status}), {hint}", words, status
            )
        if 300 <= status < 400:
            what = f"leads elsewhere ({status}), where nothing is sent: mend compose.url"
            return self._error("bad_response", what, "", status)
        error = self._fault(f"answered {status}", words, status)
        if status == 404 and error.code == "model_error":
            what = "is not there (404): compose.url is the address up to " + self._chat.route
            return self._error("bad_response", what, words, status)
        return error

    def _fault(self, what: str, words: str, status: int | None = None) -> ModelServerError:
        """What the server says is wrong."""
        settings = self._settings
        if _TOO_LONG.search(words):
            hint = f"{what}; lower compose.evidence, or raise compose.context"
            return self._error("evidence_too_long", hint, words, status)
        if _MISSING.search(words):
            hint = self._chat.missing(settings.model or "", settings.address)
            return self._error(
                "model_missing", f"has no model {settings.model!r}, {hint}", words, status
            )
        return self._error("model_error", what, words, status)

    def _error(
        self, code: ErrorCode, what: str, words: str, status: int | None = None
    ) -> ModelServerError:
        said = f"; it says: {words}" if words else ""
        return ModelServerError(code, f"{self._url} {what}{said}", status)

    def _words(self, wire: Wire) -> str:
        """What the server says beside a status; nothing where that breaks off."""
        read = b""
        with suppress(ModelServerError):
            for chunk in wire.chunks():
                read += chunk
                if len(read) > _MAX_WORDS:
                    break
        return server_words(read[:_MAX_WORDS].decode("utf-8", "replace"), "error", self._key)


def _sleep(seconds: float, deadline: float, cancel: CancelToken) -> None:
    """Wait that long; raises `DeadlineError` where the time would be over first."""
    end = time.monotonic() + seconds
    if end >= deadline:
        raise DeadlineError("timed_out", "the time is over before the server may be asked again")
    while (left := end - time.monotonic()) > 0:
        cancel.check()
        time.sleep(min(_LOOK, left))
