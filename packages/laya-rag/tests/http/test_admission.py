from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from laya_rag.engine import Engine
from laya_rag.http.problems import Problem
from laya_rag.serving.auth import BearerAuth
from laya_rag.serving.rate import RateLimiter

Serve = Callable[..., Any]
ALL, ACME, READER = "all-token-0123456789", "acme-token-0123456789", "reader-token-0123456789"

GUARDED = [
    ("GET", "/v1/stats"),
    ("GET", "/v1/documents"),
    ("GET", "/v1/documents/acme/one"),
    ("GET", "/v1/chunks?document_id=acme/one"),
    ("GET", "/v1/integrity"),
    ("POST", "/v1/query"),
    ("POST", "/v1/search"),
    ("POST", "/v1/extract"),
    ("POST", "/v1/verify"),
    ("POST", "/v1/adjudicate"),
    ("POST", "/v1/compose"),
    ("POST", "/v1/index"),
    ("POST", "/v1/index/stream"),
    ("DELETE", "/v1/index"),
    ("DELETE", "/v1/documents"),
    ("GET", "/v1/nothing"),
    ("GET", "/v1"),
    ("GET", "/metrics"),
]
WRITES = [(method, path) for method, path in GUARDED if "index" in path or method == "DELETE"]


def test_every_route_of_the_api_is_among_those_that_are_tested(site: Any) -> None:
    described = {
        (method.upper(), path)
        for path, operations in site.app.openapi()["paths"].items()
        for method in operations
    }
    tested = {
        (method, path.partition("?")[0].replace("/acme/one", "/{document_id}"))
        for method, path in GUARDED
    }
    assert described - tested == {("GET", "/healthz"), ("GET", "/readyz")}


@pytest.mark.parametrize(
    "header",
    [
        *(None, "Bearer", f"Basic {ACME}", ACME, f"Bearer {ACME}x", f"Bearer {ACME} x"),
        *("Bearer tökén-0123456789".encode(), b"Bearer \xff\xfe", "Bearer " + "x" * 5000),
    ],
)
def test_without_a_good_token_nothing_is_answered(
    serve: Serve, shared: Engine, auth: BearerAuth, header: str | bytes | None
) -> None:
    headers: dict[str, Any] = {} if header is None else {"Authorization": header}
    with serve(shared, auth=auth).client() as client:
        for method, path in GUARDED:
            answer = client.request(method, path, headers=headers, content=b"no json")
            assert answer.status_code == 401, path
            assert answer.headers["WWW-Authenticate"].startswith('Bearer realm="laya"')
            Problem.model_validate(answer.json())
            assert answer.json()["code"] == "unauthorized"
        for path in ("/healthz", "/readyz", "/openapi.json", "/"):
            assert client.get(path, headers=headers).status_code in (200, 503), path


def test_the_challenge_tells_a_wrong_token_from_none(
    serve: Serve, shared: Engine, auth: BearerAuth
) -> None:
    with serve(shared, auth=auth).client() as client:
        none = client.get("/v1/stats").headers["WWW-Authenticate"]
        wrong = client.get("/v1/stats", headers={"Authorization": "Bearer wrong"})
        assert "invalid_token" not in none
        assert 'error="invalid_token"' in wrong.headers["WWW-Authenticate"]


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_writing_takes_a_scope_before_the_body_is_looked_at(
    serve: Serve, shared: Engine, auth: BearerAuth, method: str, path: str
) -> None:
    served = serve(shared, auth=auth)
    for token in (ACME, READER):
        with served.client(token) as client:
            answer = client.request(method, path, content=b"no json")
            assert answer.status_code == 403
            assert answer.json()["code"] == "forbidden"
            assert 'error="insufficient_scope"' in answer.headers["WWW-Authenticate"]
            assert 'scope="write"' in answer.headers["WWW-Authenticate"]
    with served.client(ALL) as client:
        assert client.request(method, path, content=b"no json").status_code == 415


def test_each_caller_has_a_rate_of_its_own(serve: Serve, shared: Engine, auth: BearerAuth) -> None:
    now = [0.0]
    served = serve(shared, auth=auth, rate=RateLimiter(3, 10.0, lambda: now[0]))
    with served.client(ACME) as acme, served.client(READER) as reader:
        for path in ("/v1/stats", "/v1/nothing", "/v1/documents"):
            assert acme.get(path).status_code in (200, 404)
        now[0] = 2.5
        refused = acme.get("/v1/stats")
        assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
        assert refused.json()["retry_after"] == 7.5
        assert refused.headers["Retry-After"] == "8"
        assert reader.get("/v1/stats").status_code == 200
        assert acme.get("/healthz").status_code == 200
        now[0] = 10.1
        assert acme.get("/v1/stats").status_code == 200


def test_wrong_tokens_do_not_use_up_anybody_s_rate(
    serve: Serve, shared: Engine, auth: BearerAuth
) -> None:
    served = serve(shared, auth=auth, rate=RateLimiter(1, 1000.0))
    with served.client("wrong-token-0123456789") as stranger, served.client(ACME) as acme:
        assert [stranger.get("/v1/stats").status_code for _ in range(3)] == [401] * 3
        assert acme.get("/v1/stats").status_code == 200


def test_what_a_caller_may_do_is_said(serve: Serve, shared: Engine, auth: BearerAuth) -> None:
    served = serve(shared, auth=auth)
    with served.client(ALL) as client:
        stats = client.get("/v1/stats").json()
        assert (stats["auth"], stats["writable"]) == (True, False)
