from __future__ import annotations

from collections.abc import Callable
from typing import Any

from laya_rag.engine import Engine
from laya_rag.serving.auth import BearerAuth
from prometheus_client.parser import text_string_to_metric_families

Serve = Callable[..., Any]


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_what_happened_is_counted(serve: Serve) -> None:
    with serve().client() as client:
        for _ in range(3):
            client.get("/v1/documents/mill/0")
        client.get("/v1/documents/gone")
        client.get("/some/where")
        client.request("BREW", "/v1/stats")
        client.post("/v1/query", json={"query": "tide mill grinds barley"})
        client.post("/v1/query", json={"query": "tide", "gate": False})
        answer = client.get("/metrics")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = samples(answer.text)

    def requests(route: str, method: str, status: int) -> float:
        labels = (("method", method), ("route", route), ("status", str(status)))
        return found["laya_http_requests_total", labels]

    assert requests("/v1/documents/{document_id:path}", "GET", 200) == 3
    assert requests("/v1/documents/{document_id:path}", "GET", 404) == 1
    assert requests("unmatched", "GET", 404) == 1
    assert requests("/v1/stats", "other", 405) == 1
    assert requests("/v1/query", "POST", 200) == 2
    timed = (("method", "POST"), ("route", "/v1/query"))
    assert found["laya_http_request_seconds_count", timed] == 2
    assert found["laya_http_requests_in_flight", ()] == 1
    assert found["laya_verdicts_total", (("state", "answerable"),)] == 1
    assert found["laya_verdicts_total", (("state", "not_measured"),)] == 1


def test_numbers_hold_nothing_of_a_caller(serve: Serve, shared: Engine, auth: BearerAuth) -> None:
    served = serve(shared, auth=auth)
    with served.client("acme-token-0123456789") as acme:
        acme.post("/v1/query", json={"query": "secretquestion"})
        acme.get("/v1/documents/acme/one")
        acme.get("/secretpath")
        refused = acme.get("/metrics")
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    with served.client("reader-token-0123456789") as reader:
        text = reader.get("/metrics").text
    for secret in ("acme", "globex", "secret", "token-0123456789", "reader"):
        assert secret not in text


def test_each_server_has_numbers_of_its_own(serve: Serve) -> None:
    first, second = serve(), serve()
    with first.client() as one, second.client() as other:
        one.get("/healthz")
        assert 'route="/healthz"' in one.get("/metrics").text
        assert 'route="/healthz"' not in other.get("/metrics").text
