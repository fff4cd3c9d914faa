from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from laya_rag.config import Settings
from laya_rag.engine import Engine
from laya_rag.errors import RagError
from laya_rag.http.problems import KINDS, Problem, pointer_of
from laya_rag.testing import MemoryCorpus, chunk
from laya_retrieval.testing import FakeDecisionModel

Serve = Callable[..., Any]

JSON = {"Content-Type": "application/json"}


def problem(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.status_code == status, answer.text
    shown: dict[str, Any] = answer.json()
    Problem.model_validate(shown)
    assert (shown["status"], shown["code"]) == (status, code)
    assert (shown["type"], shown["title"]) == (f"urn:laya:problem:{code}", KINDS[code].title)
    assert shown["request_id"] == answer.headers["X-Request-ID"]
    return shown


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/v1/nothing", 404, "not_found"),
        ("GET", "/v1/stats/", 404, "not_found"),
        ("GET", "/docs", 404, "not_found"),
        ("GET", "/redoc", 404, "not_found"),
        ("GET", "/assets/nothing.js", 404, "not_found"),
        ("GET", "/assets/..%2fpage.py", 404, "not_found"),
        ("GET", "/v1/documents/nothing", 404, "not_found"),
        ("GET", "/v1/documents/%00", 404, "not_found"),
        ("GET", "/v1/chunks?document_id=nothing", 404, "not_found"),
        ("GET", "/v1/chunks?record_id=nothing", 404, "not_found"),
        ("GET", "/v1/query", 405, "method_not_allowed"),
        ("PUT", "/v1/stats", 405, "method_not_allowed"),
        ("POST", "/healthz", 405, "method_not_allowed"),
        ("POST", "/", 405, "method_not_allowed"),
        ("BREW", "/v1/stats", 405, "method_not_allowed"),
        ("GET", "/v1/integrity", 501, "not_supported"),
        ("GET", "/v1/documents?cursor=x", 400, "invalid_cursor"),
    ],
)
def test_every_refusal_is_a_problem_document(
    site: Any, method: str, path: str, status: int, code: str
) -> None:
    with site.client() as client:
        answer = client.request(method, path)
        shown = problem(answer, status, code)
        assert shown["instance"] == path.partition("?")[0].replace("%2f", "/")
        if status == 405:
            assert answer.headers["Allow"]


@pytest.mark.parametrize(
    ("path", "pointers"),
    [
        ("/v1/documents?limit=0", ["/limit"]),
        ("/v1/documents?limit=x", ["/limit"]),
        ("/v1/documents?limit=501", ["/limit"]),
        ("/v1/chunks", [""]),
        ("/v1/chunks?document_id=a&record_id=b", [""]),
        ("/v1/chunks?record_id=a&cursor=b", ["/cursor"]),
    ],
)
def test_wrong_parameters_are_named(site: Any, path: str, pointers: list[str]) -> None:
    with site.client() as client:
        shown = problem(client.get(path), 422, "invalid_request")
    assert [(item["in"], item["pointer"]) for item in shown["errors"]] == [
        ("query", pointer) for pointer in pointers
    ]


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/v1/query", {}, "/query"),
        ("/v1/query", {"query": " "}, "/query"),
        ("/v1/query", {"query": 1}, "/query"),
        ("/v1/query", {"query": "x" * 4001}, "/query"),
        ("/v1/query", {"query": "x", "keep": 0}, "/keep"),
        ("/v1/query", {"query": "x", "keep": True}, "/keep"),
        ("/v1/query", {"query": "x", "keep": "3"}, "/keep"),
        ("/v1/query", {"query": "x", "legs": []}, "/legs"),
        ("/v1/query", {"query": "x", "legs": ["bm25", 1]}, "/legs/1"),
        ("/v1/query", {"query": "x", "legs": ["no-such-leg"]}, "/legs"),
        ("/v1/query", {"query": "x", "gate": "no"}, "/gate"),
        ("/v1/query", {"query": "x", "budget": -1}, "/budget"),
        ("/v1/query", {"query": "x", "depth": 1001}, "/depth"),
        ("/v1/query", {"query": "x", "a/b~c": 1}, "/a~1b~0c"),
        ("/v1/query", {"query": "x", "access": {"all_tenants": True}}, "/access"),
        ("/v1/query", {"query": "x", "filters": []}, "/filters"),
        ("/v1/query", {"query": "x", "filters": {"and": 3}}, "/filters"),
        ("/v1/query", {"query": "x", "filters": {"no_such_field": "y"}}, "/filters"),
        ("/v1/query", [], ""),
        ("/v1/query", "text", ""),
        ("/v1/query", None, ""),
        ("/v1/verify", {"answer": "x"}, ""),
        ("/v1/verify", {"answer": "x", "query": "y", "records": ["z"]}, ""),
        ("/v1/verify", {"answer": "x", "passages": [{"text": "y", "extra": 1}]}, None),
        ("/v1/verify", {"answer": "", "query": "x"}, "/answer"),
        ("/v1/adjudicate", {"answer": " \n"}, "/answer"),
        ("/v1/compose", {"query": ""}, "/query"),
        ("/v1/index", {"folder": ""}, "/folder"),
        ("/v1/index/stream", {"dry_run": 1}, "/dry_run"),
    ],
)
def test_wrong_values_of_a_body_are_named_and_not_repeated(
    site: Any, path: str, body: Any, pointer: str | None
) -> None:
    with site.client() as client:
        shown = problem(client.post(path, json=body), 422, "invalid_request")
    assert all(item["in"] == "body" for item in shown["errors"])
    if pointer is not None:
        assert [item["pointer"] for item in shown["errors"]] == [pointer]
    assert "no-such-leg" not in str(shown)


@pytest.mark.parametrize(
    ("headers", "content", "status", "code"),
    [
        (JSON, b"{", 400, "malformed_body"),
        (JSON, b"\xff\xfe", 400, "malformed_body"),
        (JSON, b"[" * 100_000, 400, "malformed_body"),
        (JSON, b'{"query": "\\ud800"}', 422, "invalid_request"),
        (JSON, b'{"query": "x", "filters": {"title": "\\udc00"}}', 422, "invalid_request"),
        (JSON, b'{"query": "x", "filters": {"ordinal": NaN}}', 422, "invalid_request"),
        (JSON, b'{"query": "x", "keep": 1e400}', 422, "invalid_request"),
        (JSON, b'{"query": "x", "keep": ' + b"9" * 5000 + b"}", 400, "malformed_body"),
        (JSON, b"", 422, "invalid_request"),
        ({"Content-Type": "text/plain"}, b'{"query": "x"}', 415, "unsupported_media_type"),
        ({"Content-Type": "application/xml"}, b"<query/>", 415, "unsupported_media_type"),
        ({}, b'{"query": "x"}', 415, "unsupported_media_type"),
    ],
)
def test_what_is_no_json_is_refused(
    site: Any, headers: dict[str, str], content: bytes, status: int, code: str
) -> None:
    with site.client() as client:
        problem(client.post("/v1/query", content=content, headers=headers), status, code)
        assert client.post("/v1/query", json={"query": "tide"}).status_code == 200


class LeakingError(RagError):
    """An error whose text nobody may see."""


class LeakingModel(FakeDecisionModel):
    def predict_batch(self, states: Any, questions: Any) -> Any:
        raise LeakingError("/srv/secret/bundle: password hunter2, tenant globex")


@pytest.mark.parametrize("path", ["/v1/query", "/v1/extract", "/v1/adjudicate", "/v1/verify"])
def test_a_failure_inside_says_nothing_but_where_to_look(
    serve: Serve, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    engine = Engine(MemoryCorpus([chunk("a", "tide")]), Settings(), model=LeakingModel())
    body = {"answer": "The tide."} if path == "/v1/adjudicate" else {"query": "tide"}
    if path == "/v1/verify":
        body["answer"] = "The tide [1]."
    with serve(engine).client() as client:
        answer = client.post(path, json=body, headers={"X-Request-ID": "look-here"})
        problem(answer, 500, "internal_error")
    everything = answer.text + str(answer.headers)
    for secret in ("srv", "hunter2", "globex", "LeakingError", "Traceback"):
        assert secret not in everything
    logged = [record for record in caplog.records if "look-here" in record.getMessage()]
    assert logged
    assert logged[0].exc_info


def test_a_pointer_is_escaped() -> None:
    assert pointer_of(["a/b", "~", 3]) == "/a~1b/~0/3"
    assert pointer_of([]) == ""
