from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import jsonschema
import pytest
from laya_rag.compose import EvidenceEvent, TextEvent
from laya_rag.config import Settings
from laya_rag.engine import Engine
from laya_rag.serving.auth import BearerAuth
from laya_rag.serving.rate import RateLimiter
from laya_rag.testing import MemoryCorpus, chunk
from laya_retrieval.testing import FakeDecisionModel

Serve = Callable[..., Any]
ALWAYS = {"403", "421", "500"}


@pytest.fixture(scope="module")
def described(site: Any) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(json.dumps(site.app.openapi()))
    return shown


def operations(described: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method.upper(), path, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]


def valid(described: dict[str, Any], answer: httpx2.Response, path: str) -> Any:
    """The answer, which must be what the description says of its status and media type."""
    operation = described["paths"][path][str(answer.request.method).lower()]
    documented = operation["responses"][str(answer.status_code)]
    media = answer.headers["Content-Type"].partition(";")[0]
    schema = {"components": described["components"], **documented["content"][media]["schema"]}
    lines = answer.text.splitlines() if media == "application/x-ndjson" else [answer.text]
    for line in lines:
        jsonschema.validate(json.loads(line), schema, cls=jsonschema.Draft202012Validator)
    return json.loads(lines[-1])


def test_every_operation_documents_its_errors(described: dict[str, Any]) -> None:
    for method, path, operation in operations(described):
        statuses = set(operation["responses"])
        assert statuses >= ALWAYS | {"200"}, path
        if path.startswith(("/v1", "/metrics")):
            assert statuses >= {"401", "429"}, path
            assert operation["security"] == [{"token": []}]
        if path.startswith("/v1"):
            assert statuses >= {"404", "422", "503"} - ({"404"} if "compose" in path else set())
        if "requestBody" in operation:
            assert statuses >= {"400", "413", "415"}, path
        if method == "DELETE" or "index" in path:
            assert statuses >= {"409"}, path
            names = [parameter["name"] for parameter in operation["parameters"]]
            assert "Idempotency-Key" in names
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                schema = response["content"]["application/problem+json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Problem"}, (path, status)
            elif path != "/metrics":
                for content in response["content"].values():
                    assert content["schema"]["$ref"], path


def test_every_reference_leads_somewhere(described: dict[str, Any]) -> None:
    text = json.dumps(described)
    named = {part.split('"')[0] for part in text.split('"#/components/schemas/')[1:]}
    assert named <= set(described["components"]["schemas"])
    assert "HTTPValidationError" not in text
    for schema in described["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_the_description_needs_nothing_from_elsewhere(site: Any) -> None:
    with site.client() as client:
        answer = client.get("/openapi.json")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json()["openapi"].startswith("3.1")


QUESTION = {"query": "tide mill grinds barley"}
REQUESTS: list[tuple[str, str, Any]] = [
    ("GET", "/healthz", None),
    ("GET", "/v1/stats", None),
    ("GET", "/v1/documents", None),
    ("GET", "/v1/documents?limit=2", None),
    ("GET", "/v1/chunks?document_id=mill/1", None),
    ("GET", "/v1/chunks?record_id=mill/1%23chunk-0", None),
    ("POST", "/v1/query", QUESTION),
    ("POST", "/v1/query", {**QUESTION, "budget": 20}),
    ("POST", "/v1/query", {"query": "nothing like it"}),
    ("POST", "/v1/query", {**QUESTION, "gate": False, "legs": ["bm25"], "keep": 2, "depth": 3}),
    ("POST", "/v1/search", {**QUESTION, "filters": {"document_id": "mill/1"}}),
    ("POST", "/v1/extract", QUESTION),
    ("POST", "/v1/verify", {"answer": 'The "tide mill" 1 of 2 [1] [9].', **QUESTION}),
    ("POST", "/v1/verify", {"answer": "No [1].", "records": ["mill/1#chunk-0"]}),
    ("POST", "/v1/verify", {"answer": "No [1].", "passages": ["a", {"text": "b"}]}),
    (
        *("POST", "/v1/verify"),
        {"answer": '"b" [1].', "passages": [{"text": "b", "record_id": "r"}]},
    ),
    ("POST", "/v1/adjudicate", {"answer": "The tide mill grinds. Nobody knows."}),
    ("POST", "/v1/compose", QUESTION),
]


def composer(engine: Engine, query: str, **options: Any) -> Any:
    yield EvidenceEvent(engine.ask(query, access=options["access"]))
    yield TextEvent("The mill")


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_real_answers_are_as_described(
    serve: Serve, described: dict[str, Any], method: str, path: str, body: Any
) -> None:
    with serve(composer=composer).client() as client:
        answer = client.request(method, path, json=body)
        assert answer.status_code == 200, answer.text
        valid(described, answer, path.partition("?")[0])


def test_the_end_of_a_composition_is_as_described(serve: Serve, described: dict[str, Any]) -> None:
    settings = Settings().updated({"compose.provider": "ollama", "compose.model": "none-is-asked"})
    corpus = MemoryCorpus([chunk("a", "Dull words.")])
    engine = Engine(corpus, settings, model=FakeDecisionModel(lambda state, question: 0.0))
    with serve(engine).client() as client:
        assert client.get("/v1/stats").json()["compose"]["available"] is True
        answer = client.post("/v1/compose", json={"query": "Who won?"})
        last = valid(described, answer, "/v1/compose")
    assert (last["event"], last["state"]) == ("result", "abstained")


def test_real_refusals_are_as_described(
    serve: Serve, shared: Engine, auth: BearerAuth, described: dict[str, Any]
) -> None:
    def refused(answer: httpx2.Response, status: int, path: str) -> None:
        assert answer.status_code == status, answer.text
        valid(described, answer, path)

    served = serve(shared, auth=auth, rate=RateLimiter(20, 1000.0), body_limit=100)
    with served.client() as client, served.client("all-token-0123456789") as known:
        for method, path, _ in operations(described):
            if path.startswith(("/v1", "/metrics")):
                refused(client.request(method, path), 401, path)
            refused(client.request(method, path, headers={"Host": "evil.example"}), 421, path)
            refused(client.request(method, path, headers={"Origin": "http://e.example"}), 403, path)
        refused(known.get("/v1/documents?cursor=x"), 400, "/v1/documents")
        refused(known.get("/v1/documents/x"), 404, "/v1/documents/{document_id}")
        refused(known.post("/v1/query", json={"query": "x" * 200}), 413, "/v1/query")
        refused(known.post("/v1/query", content=b"{}"), 415, "/v1/query")
        refused(known.post("/v1/query", json={}), 422, "/v1/query")
        refused(known.post("/v1/index", json={}), 403, "/v1/index")
        refused(known.get("/v1/integrity"), 501, "/v1/integrity")
        for _ in range(20):
            last = known.get("/v1/stats")
        refused(last, 429, "/v1/stats")
