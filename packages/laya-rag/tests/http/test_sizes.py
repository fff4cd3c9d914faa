from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

Serve = Callable[..., Any]
LIMIT = 5000
JSON = {"Content-Type": "application/json"}


def chunks(size: int) -> Iterator[bytes]:
    for begin in range(0, size, 700):
        yield b"x" * min(700, size - begin)


def test_a_body_has_a_limit_whatever_it_says_of_itself(serve: Serve) -> None:
    with serve(body_limit=LIMIT).client() as client:
        for content in (b"x" * (LIMIT + 1), b"x" * (LIMIT * 100)):
            answer = client.post("/v1/query", content=content, headers=JSON)
            assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
        streamed = client.post("/v1/query", content=chunks(LIMIT + 1), headers=JSON)
        assert (streamed.status_code, streamed.json()["code"]) == (413, "body_too_large")
        for content in (b"x" * LIMIT, chunks(LIMIT)):
            assert client.post("/v1/query", content=content, headers=JSON).status_code == 400
        assert client.post("/v1/query", json={"query": "tide"}).status_code == 200


@pytest.mark.parametrize(
    "length", ["9" * 30, "9" * 5000, "-1", "+1", "1_0", "0x10", "1, 2", "\N{SUPERSCRIPT TWO}"]
)
def test_a_length_that_is_none_is_refused(serve: Serve, length: str) -> None:
    served = serve(body_limit=LIMIT)
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as line:
        head = f"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
        line.sendall(head.encode() + b"x")
        status = line.recv(4000).split(b" ")[1]
    assert status in (b"400", b"413")
    with served.client() as client:
        assert client.get("/healthz").status_code == 200


def test_answers_are_compressed_for_who_wants_that(site: Any) -> None:
    with site.client() as client:
        small = client.get("/healthz", headers={"Accept-Encoding": "gzip"})
        large = client.get("/openapi.json", headers={"Accept-Encoding": "gzip"})
        plain = client.get("/openapi.json", headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in small.headers
    assert large.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert large.json() == plain.json()


@pytest.mark.parametrize("path", ["/healthz", "/nothing", "/v1/stats", "/metrics", "/"])
def test_a_browser_is_told_what_not_to_do(site: Any, path: str) -> None:
    with site.client() as client:
        headers = client.get(path).headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == ("no-cache" if path == "/" else "no-store")
    assert "server" not in headers
