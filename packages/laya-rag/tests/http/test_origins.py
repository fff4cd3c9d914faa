from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from laya_rag.config import Settings
from laya_rag.http.app import http_app
from laya_rag.serving.errors import ServerSetupError
from laya_rag.serving.source import EngineSource

Serve = Callable[..., Any]
PAGE = "https://page.example"


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8077", "127.0.0.1.evil.example", "localhost.evil", "x"),
        *("127.0.0.1@evil.example", "[::2]", "[::1].evil", "localhost:1:2", "0.0.0.0", ""),
    ],
)
def test_a_name_that_is_not_ours_gets_nothing(site: Any, host: str) -> None:
    with site.client() as client:
        for path in ("/", "/healthz", "/v1/stats", "/metrics"):
            answer = client.get(path, headers={"Host": host})
            assert answer.status_code == 421
            assert answer.json()["code"] == "wrong_host"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LocalHost:9", "[::1]:8077", "[::1]"])
def test_loopback_is_ours_by_any_port(site: Any, host: str) -> None:
    with site.client() as client:
        assert client.get("/healthz", headers={"Host": host}).status_code == 200


def test_the_operator_names_further_hosts(serve: Serve) -> None:
    with serve(hosts=["laya.example", "other.example:*", "[2001:db8::1]:80"]).client() as client:
        for host, status in {
            "laya.example": 200,
            "LAYA.example": 200,
            "laya.example:81": 421,
            "other.example:81": 200,
            "other.example": 200,
            "[2001:db8::1]:80": 200,
            "[2001:db8::1]": 421,
        }.items():
            assert client.get("/healthz", headers={"Host": host}).status_code == status, host


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1", "", PAGE])
def test_a_page_of_another_origin_may_not_call(site: Any, origin: str) -> None:
    with site.client() as client:
        for method, path in [("GET", "/v1/stats"), ("POST", "/v1/index"), ("OPTIONS", "/v1/index")]:
            answer = client.request(method, path, headers={"Origin": origin})
            assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin")
            assert "Access-Control-Allow-Origin" not in answer.headers


def test_the_server_s_own_page_may(site: Any) -> None:
    with site.client() as client:
        answer = client.get("/v1/stats", headers={"Origin": site.url})
        assert answer.status_code == 200
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_named_origins_may_and_the_browser_is_told(serve: Serve) -> None:
    with serve(origins=[PAGE]).client() as client:
        answer = client.get("/v1/nothing", headers={"Origin": PAGE})
        assert answer.status_code == 404
        assert answer.headers["Access-Control-Allow-Origin"] == PAGE
        assert "X-Request-ID" in answer.headers["Access-Control-Expose-Headers"]
        assert "Origin" in answer.headers["Vary"]
        assert "Access-Control-Allow-Credentials" not in answer.headers
        asked = client.options(
            "/v1/index",
            headers={"Origin": PAGE, "Access-Control-Request-Method": "DELETE"},
        )
        assert (asked.status_code, asked.content) == (204, b"")
        assert "DELETE" in asked.headers["Access-Control-Allow-Methods"]
        assert "Idempotency-Key" in asked.headers["Access-Control-Allow-Headers"]
        assert client.get("/healthz", headers={"Origin": f"{PAGE}.evil"}).status_code == 403
        # A cache must not give one origin's answer to another, nor to none.
        assert "Origin" in client.get("/healthz").headers["Vary"]


@pytest.mark.parametrize(
    "options",
    [
        *({"origins": [name]} for name in ("*", "page.example", "https://a/b", "https://a/", "")),
        *({"hosts": [name]} for name in ("*", "http://a", "a:b", "a/b", "", "a:1:2")),
    ],
)
def test_a_name_that_nobody_would_send_is_a_mistake(options: Any) -> None:
    with pytest.raises(ServerSetupError):
        http_app(EngineSource(Settings()), **options)
