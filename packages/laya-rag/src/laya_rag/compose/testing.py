"""A chat server on loopback that says what a test told it to, the way a real one would."""

from __future__ import annotations

import json
import select
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, TypeAlias

#: Bytes to send, seconds of silence, or an event to wait for.
Step: TypeAlias = bytes | float | threading.Event


@dataclass(frozen=True, slots=True)
class Reply:
    """What one request is answered with."""

    steps: Sequence[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Close the connection at the end without saying that this is the end.
    cut: bool = False


class ChatServer:
    """Speaks Ollama's and OpenAI's chat routes.

    The next of `replies` answers a request; where none is left, `text` does. `requests` holds path,
    headers by lower-case name, and body of all that came, and `left` is set once a client went away
    before the end. A context manager.
    """

    def __init__(self, text: str = "The mill is driven by the tide [1].") -> None:
        self.text = text
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.replies: list[Reply] = []
        self.left = threading.Event()
        self._http = _Server(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> ChatServer:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()

    def settings(self, provider: str) -> dict[str, Any]:
        """The settings by which `provider` reaches this server."""
        return {
            "compose.provider": provider,
            "compose.model": "tide-7b",
            "compose.url": self.url if provider == "ollama" else f"{self.url}/v1",
        }

    def answer(self, path: str) -> Reply:
        """What answers a request to `path`."""
        if self.replies:
            return self.replies.pop(0)
        if path == "/api/chat":
            return Reply(ollama_stream(self.text))
        if path == "/v1/chat/completions":
            return Reply(openai_stream(self.text))
        return Reply([b"404 page not found"], status=404)


def ollama_stream(text: str, end: str | None = "stop", **last: Any) -> list[bytes]:
    """A word on each line, then the end with its reason, if any."""
    lines: list[dict[str, Any]] = [
        {"model": "tide-7b", "message": {"role": "assistant", "content": word}, "done": False}
        for word in _words(text)
    ]
    if end is not None:
        message = {"role": "assistant", "content": ""}
        lines.append({"message": message, "done": True, "done_reason": end, **last})
    return [json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines]


def openai_stream(text: str, end: str | None = "stop") -> list[bytes]:
    """A word in each event, then the end with its reason, if any."""
    deltas: list[dict[str, Any]] = [{"delta": {"role": "assistant", "content": ""}}]
    deltas += [{"delta": {"content": word}} for word in _words(text)]
    if end is not None:
        deltas.append({"delta": {}, "finish_reason": end})
    events = [
        openai_event({"choices": [{"index": 0, "finish_reason": None, **delta}]})
        for delta in deltas
    ]
    return [*events, b"data: [DONE]\n\n"] if end is not None else events


def openai_event(found: Mapping[str, Any]) -> bytes:
    """A server-sent event."""
    return b"data: " + json.dumps(found, ensure_ascii=False).encode() + b"\n\n"


def _words(text: str) -> Iterator[str]:
    parts = text.split(" ")
    for number, word in enumerate(parts):
        yield word if number == len(parts) - 1 else f"{word} "


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Say nothing: a client that stopped waiting has closed the connection."""


def _handler(owner: ChatServer) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            owner.requests.append((self.path, headers, body))
            reply = owner.answer(self.path)
            kind = "application/x-ndjson" if self.path == "/api/chat" else "text/event-stream"
            if reply.status != 200:
                kind = "application/json"
            self.send_response(reply.status)
            for name, value in {"Content-Type": kind, **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                for step in reply.steps:
                    self._take(step)
                if not reply.cut:
                    self.wfile.write(b"0\r\n\r\n")
            except OSError:
                owner.left.set()
            self.close_connection = True

        def _take(self, step: Step) -> None:
            if isinstance(step, bytes):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(step), step))
                return
            until = time.monotonic() + (step if isinstance(step, float) else 60.0)
            while time.monotonic() < until:
                if isinstance(step, threading.Event) and step.wait(0.01):
                    return
                if select.select([self.connection], [], [], 0.01)[0]:
                    raise ConnectionResetError

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
