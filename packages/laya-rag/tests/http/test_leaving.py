from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from laya_rag.config import Settings
from laya_rag.engine import CancelToken, Engine
from laya_rag.testing import HeldModel, MemoryCorpus, chunk

Serve = Callable[..., Any]
ROWS = [chunk(f"d{n}#chunk-0", f"The tide mill {n}.") for n in range(6)]


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


def send(port: int, path: str, body: Any, *headers: str) -> socket.socket:
    """A request on a line that stays open."""
    content = json.dumps(body).encode()
    head = [
        f"POST {path} HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
        *headers,
    ]
    line = socket.create_connection(("127.0.0.1", port), timeout=20)
    line.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + content)
    return line


def counted(served: Any, name: str, **labels: str) -> float:
    registry = served.app.state.service.metrics.registry
    return float(registry.get_sample_value(name, labels) or 0)


@pytest.fixture
def held() -> Iterator[HeldModel]:
    model = HeldModel()
    yield model
    model.go.set()


def ready(serve: Serve, model: HeldModel, **options: Any) -> Any:
    """A server whose model has answered once, and is held from now on.

    Each passage is a call of the model of its own.
    """
    settings = Settings().updated({"gate.batch": 1})
    served = serve(Engine(MemoryCorpus(ROWS), settings, model=model), **options)
    model.go.set()
    with served.client() as client:
        until(lambda: client.get("/readyz").status_code == 200)
    model.go.clear()
    model.began.clear()
    model.count = 0
    return served


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/query", {"query": "tide mill"}),
        ("/v1/extract", {"query": "tide mill"}),
        ("/v1/verify", {"answer": "The tide [1].", "query": "tide mill"}),
        ("/v1/adjudicate", {"answer": "The tide mill. The tide."}),
    ],
)
@pytest.mark.parametrize("reset", [False, True])
def test_who_leaves_stops_the_model(
    serve: Serve, held: HeldModel, path: str, body: Any, reset: bool
) -> None:
    served = ready(serve, held)
    line = send(served.port, path, body)
    assert held.began.wait(20)
    if reset:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    line.close()
    labels = {"route": path, "method": "POST", "status": "499"}
    until(lambda: counted(served, "laya_http_requests_total", **labels) == 1)
    calls = held.count
    held.go.set()
    with served.client() as client:  # both workers are free again, and asked
        for _ in range(2):
            assert client.post("/v1/search", json={"query": "tide"}).status_code == 200
    assert held.count == calls


def test_a_question_that_nobody_waits_for_is_never_begun(serve: Serve, held: HeldModel) -> None:
    served = ready(serve, held, workers=1)
    first = send(served.port, "/v1/query", {"query": "tide mill"})
    assert held.began.wait(20)
    send(served.port, "/v1/query", {"query": "tide"}).close()
    labels = {"route": "/v1/query", "method": "POST", "status": "499"}
    until(lambda: counted(served, "laya_http_requests_total", **labels) == 1)
    held.go.set()
    assert b" 200 " in first.recv(100)
    first.close()
    assert held.count == 7  # six passages and the answer, of the first question alone


def test_a_client_that_stays_gets_its_answer(serve: Serve, held: HeldModel) -> None:
    served = ready(serve, held)
    line = send(served.port, "/v1/query", {"query": "tide mill"})
    assert held.began.wait(20)
    held.go.set()
    assert b" 200 " in line.recv(100)
    line.close()


class Composer:
    """Writes a word again and again until it is stopped."""

    def __init__(self, event: Any) -> None:
        self.event = event
        self.closed = threading.Event()
        self.cancel: CancelToken | None = None

    def __call__(self, *arguments: Any, cancel: CancelToken, **options: Any) -> Iterator[Any]:
        self.cancel = cancel
        try:
            while True:
                cancel.check()
                yield self.event
        finally:
            self.closed.set()


class Word:
    def to_json(self) -> dict[str, Any]:
        return {"event": "text", "text": "tide " * 200}


@pytest.mark.parametrize("accept", ["application/x-ndjson", "text/event-stream"])
@pytest.mark.parametrize("reads", [True, False])
def test_who_leaves_a_stream_stops_the_writer(serve: Serve, accept: str, reads: bool) -> None:
    composer = Composer(Word())
    served = serve(composer=composer)
    line = send(served.port, "/v1/compose", {"query": "tide"}, f"Accept: {accept}")
    assert b"200" in line.recv(2000)
    if reads:
        for _ in range(20):
            assert line.recv(10_000)
    # Without a reader the writer waits for room, and must be stopped there too.
    else:
        time.sleep(0.3)
    assert not composer.closed.is_set()
    line.close()
    assert composer.closed.wait(20)
    assert composer.cancel is not None
    assert composer.cancel.cancelled


def test_who_leaves_before_the_first_event_stops_it_too(serve: Serve, held: HeldModel) -> None:
    def composer(engine: Engine, query: str, *, cancel: CancelToken, **options: Any) -> Any:
        engine.ask(query, cancel=cancel)
        yield Word()

    served = ready(serve, held, composer=composer)
    line = send(served.port, "/v1/compose", {"query": "tide mill"})
    assert held.began.wait(20)
    line.close()
    labels = {"route": "/v1/compose", "method": "POST", "status": "499"}
    until(lambda: counted(served, "laya_http_requests_total", **labels) == 1)
    held.go.set()
    with served.client() as client:
        assert client.post("/v1/search", json={"query": "tide"}).status_code == 200
    assert held.count == 1


def test_beyond_the_queue_a_question_is_refused_at_once(serve: Serve, held: HeldModel) -> None:
    served = ready(serve, held, workers=1, waiting=1)
    lines = [send(served.port, "/v1/query", {"query": "tide mill"})]
    assert held.began.wait(20)
    lines.append(send(served.port, "/v1/query", {"query": "tide mill"}))
    with served.client() as client:
        until(lambda: counted(served, "laya_http_requests_in_flight") == 2)
        time.sleep(0.1)  # the second one is in the queue, not only at the door
        for path in ("/v1/query", "/v1/search", "/v1/compose"):
            answer = client.post(path, json={"query": "tide"})
            assert (answer.status_code, answer.json()["code"]) == (503, "overloaded"), path
            assert answer.headers["Retry-After"] == "1"
        assert client.get("/v1/stats").status_code == 503
        assert client.get("/healthz").status_code == 200
        assert counted(served, "laya_queue_refusals_total") == 4
        held.go.set()
        for line in lines:
            assert b" 200 " in line.recv(100)
            line.close()
        assert client.post("/v1/query", json={"query": "tide"}).status_code == 200
