"""One request whose answer streams, and that can be given up at any moment.

The client blocks while the server is silent, which for a language model that reads a long prompt
may be a minute. So it runs in a thread of its own, and whoever waits for it looks up now and then:
at the clock, and at whether anybody still wants the answer.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from laya_signals.http import without_key

from laya_rag.compose.errors import ModelServerError
from laya_rag.engine import CancelToken

if TYPE_CHECKING:
    import httpx2

#: Bytes that a whole answer may have, its envelope and the model's thinking included.
MAX_BYTES = 2**24

_LOOK = 0.05  # seconds
_CONNECTED = ("connection.connect_tcp.complete", "connection.start_tls.complete")


class DeadlineError(ModelServerError):
    """The time for the whole answer is over."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, and how long to wait for what comes back."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    key: str | None
    #: Seconds without a sign of life.
    idle: float
    #: `time.monotonic()` at which all of it must be over.
    deadline: float
    #: Whether proxies of the environment are asked.
    proxies: bool


@dataclass(frozen=True, slots=True)
class _Head:
    status: int
    headers: Mapping[str, str]


class Wire:
    """A request on its way; a context manager, at whose end the connection is closed.

    Whatever waits raises `ModelServerError` when the server cannot be reached, is silent or sends
    too much, `DeadlineError` when the time is over, and `StoppedError` when `cancel` was used.
    """

    def __init__(self, request: Request, cancel: CancelToken) -> None:
        self._request = request
        self._cancel = cancel
        self._arrived: queue.Queue[_Head | bytes | Exception | None] = queue.Queue(maxsize=64)
        self._given_up = threading.Event()
        self._stream: Any = None
        self._thread = threading.Thread(target=self._run, name="laya-compose", daemon=True)

    def __enter__(self) -> Wire:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._given_up.set()
        if self._stream is not None and self._thread.is_alive():
            # Wakes the thread, which closes the connection. Not the method of a TLS socket, which
            # would change what the thread is reading from.
            with suppress(OSError):
                socket.socket.shutdown(self._stream.get_extra_info("socket"), socket.SHUT_RDWR)
        self._thread.join(timeout=1.0)

    def head(self) -> tuple[int, Mapping[str, str]]:
        """The status and the headers, by lower-case name."""
        arrived = self._next()
        if not isinstance(arrived, _Head):
            raise self._error(arrived)
        return arrived.status, arrived.headers

    def chunks(self) -> Iterator[bytes]:
        """What follows, as it comes; a connection that breaks ends it like any other end."""
        import httpx2

        size = 0
        while (arrived := self._next()) is not None:
            if not isinstance(arrived, bytes):
                broken = httpx2.NetworkError, httpx2.RemoteProtocolError
                if isinstance(arrived, broken) and not isinstance(arrived, httpx2.ConnectError):
                    return
                raise self._error(arrived)
            size += len(arrived)
            if size > MAX_BYTES:
                raise ModelServerError(
                    "too_large", f"{self._request.url} sent more than {MAX_BYTES} bytes"
                )
            yield arrived

    def _next(self) -> _Head | bytes | Exception | None:
        while True:
            self._cancel.check()
            left = self._request.deadline - time.monotonic()
            if left <= 0:
                raise DeadlineError("timed_out", f"{self._request.url}: the time is over")
            with suppress(queue.Empty):
                return self._arrived.get(timeout=min(_LOOK, left))

    def _error(self, arrived: _Head | bytes | Exception | None) -> ModelServerError:
        # Errors of the client hold the request, and that the key: none is kept as a cause.
        import httpx2

        url = self._request.url
        if isinstance(arrived, httpx2.TimeoutException):
            return ModelServerError(
                "timed_out", f"{url} gave no sign of life for {self._request.idle:g} seconds"
            )
        words = without_key(self._request.key, str(arrived)) or type(arrived).__name__
        if isinstance(arrived, httpx2.TransportError):
            return ModelServerError("unreachable", f"cannot reach {url}: {words}")
        return ModelServerError("bad_response", f"{url}: {words}")

    def _run(self) -> None:
        """In the thread."""
        import httpx2

        request = self._request
        end: Exception | None = None
        try:
            with (
                # With a transport of its own a client asks no proxy.
                httpx2.Client(
                    transport=None if request.proxies else httpx2.HTTPTransport(),
                    timeout=request.idle,
                    follow_redirects=False,
                ) as client,
                client.stream(
                    "POST",
                    request.url,
                    content=request.body,
                    headers=dict(request.headers),
                    extensions={"trace": self._trace},
                ) as response,
            ):
                self._put(_Head(response.status_code, _lower(response)))
                for chunk in response.iter_bytes():
                    self._put(chunk)
        except Exception as error:  # whoever waits for the answer says what it means
            end = error
        with suppress(_GivenUpError):
            self._put(end)

    def _put(self, arrived: _Head | bytes | Exception | None) -> None:
        while not self._given_up.is_set():
            with suppress(queue.Full):
                self._arrived.put(arrived, timeout=_LOOK)
                return
        raise _GivenUpError

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event in _CONNECTED:
            self._stream = info["return_value"]
            if self._given_up.is_set():  # before anything was sent
                raise _GivenUpError


class _GivenUpError(Exception):
    """Nobody waits any more."""


def _lower(response: httpx2.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}
