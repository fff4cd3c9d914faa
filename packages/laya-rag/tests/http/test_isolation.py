"""What a caller of one tenant is told is what the engine gives it: by content, count and error."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from laya_rag.access import Access
from laya_rag.config import Settings
from laya_rag.engine import Engine
from laya_rag.serving.auth import BearerAuth
from laya_rag.testing import MemoryCorpus, chunk
from laya_retrieval.testing import FakeDecisionModel

Serve = Callable[..., Any]
ACME, ALL = "acme-token-0123456789", "all-token-0123456789"
OWN = [
    chunk("acme/one#chunk-0", "The tide is high.", tenants=["acme"]),
    chunk("acme/two#chunk-0", "The mill is old.", tenants=["acme"]),
    chunk("both/one#chunk-0", "The tide of both.", tenants=["acme", "globex"]),
]
OTHERS = [
    chunk("globex/one#chunk-0", "The tide mill is low and secret.", tenants=["globex"]),
    chunk("globex/two#chunk-0", "Tide tide tide mill mill.", tenants=["globex"]),
]
REQUESTS: dict[str, tuple[str, str, Any]] = {
    "stats": ("GET", "/v1/stats", None),
    "documents": ("GET", "/v1/documents", None),
    "a page": ("GET", "/v1/documents?limit=1", None),
    "own document": ("GET", "/v1/documents/acme/one", None),
    "other document": ("GET", "/v1/documents/globex/one", None),
    "own chunks": ("GET", "/v1/chunks?document_id=acme/one", None),
    "other chunks": ("GET", "/v1/chunks?document_id=globex/one", None),
    "other record": ("GET", "/v1/chunks?record_id=globex/one%23chunk-0", None),
    "one other record": (
        *("GET", "/v1/chunks?record_id=acme/one%23chunk-0&record_id=globex/one%23chunk-0"),
        None,
    ),
    "integrity": ("GET", "/v1/integrity", None),
    "query": ("POST", "/v1/query", {"query": "tide mill"}),
    "query for the others'": ("POST", "/v1/query", {"query": "secret low"}),
    "query without a gate": ("POST", "/v1/query", {"query": "tide mill", "gate": False}),
    "filter by tenant": ("POST", "/v1/query", {"query": "tide", "filters": {"tenants": "globex"}}),
    "filter by id": (
        *("POST", "/v1/search"),
        {"query": "tide", "filters": {"document_id": "globex/one"}},
    ),
    "filter by not": (
        *("POST", "/v1/search"),
        {"query": "tide", "filters": {"not": {"document_id": "acme/one"}}},
    ),
    "search": ("POST", "/v1/search", {"query": "tide mill", "keep": 100, "depth": 1000}),
    "extract": ("POST", "/v1/extract", {"query": "tide mill"}),
    "verify by query": ("POST", "/v1/verify", {"answer": "Tide [1].", "query": "tide mill"}),
    "verify by other record": (
        *("POST", "/v1/verify"),
        {"answer": "Tide [1].", "records": ["globex/one#chunk-0"]},
    ),
    "verify by text": ("POST", "/v1/verify", {"answer": "Tide [1].", "passages": ["tide"]}),
    "adjudicate": ("POST", "/v1/adjudicate", {"answer": "The tide is low. The mill is secret."}),
    "compose": ("POST", "/v1/compose", {"query": "tide mill"}),
    "metrics": ("GET", "/metrics", None),
    "index": ("POST", "/v1/index", {}),
    "index stream": ("POST", "/v1/index/stream", {}),
    "reset": ("DELETE", "/v1/index", {"confirm": "reset"}),
    "delete": ("DELETE", "/v1/documents", {"ids": ["globex/one"]}),
}


def engine(*rows: Any) -> Engine:
    return Engine(MemoryCorpus(rows), Settings(), model=FakeDecisionModel())


def composer(engine: Engine, query: str, **options: Any) -> Any:
    from laya_rag.compose import EvidenceEvent

    yield EvidenceEvent(engine.ask(query, access=options["access"], filters=options["filters"]))


def told(serve: Serve, auth: BearerAuth, *rows: Any) -> dict[str, tuple[int, str]]:
    """Every answer without what differs from request to request."""
    found = {}
    with serve(engine(*rows), auth=auth, composer=composer).client(ACME) as client:
        for name, (method, path, body) in REQUESTS.items():
            answer = client.request(method, path, json=body)
            shown = json.loads(answer.text.splitlines()[-1])
            for varying in ("seconds", "request_id", "next"):
                shown.pop(varying, None)
            found[name] = (answer.status_code, json.dumps(shown, sort_keys=True))
    return found


def test_the_others_rows_change_no_answer_and_show_in_none(serve: Serve, auth: BearerAuth) -> None:
    with_others = told(serve, auth, *OWN, *OTHERS)
    alone = told(serve, auth, *OWN)
    assert with_others == alone
    assert all("globex" not in shown or "/v1/" in shown for _, shown in with_others.values())
    assert "secret" not in with_others["query"][1]
    for name in ("own document", "own chunks", "query", "compose", "adjudicate"):
        assert with_others[name][0] == 200, name
    for name in ("other document", "other chunks", "other record", "one other record"):
        assert with_others[name][0] == 404, name
    for name in ("integrity", "metrics", "index", "index stream", "reset", "delete"):
        assert with_others[name][0] == 403, name


@pytest.mark.parametrize("name", ["query", "search", "extract", "documents", "stats"])
def test_an_answer_is_the_engine_s_own(
    serve: Serve, shared: Engine, auth: BearerAuth, name: str
) -> None:
    access = Access(["acme"])
    calls: dict[str, Callable[[], Any]] = {
        "query": lambda: shared.ask("tide mill", access=access),
        "search": lambda: shared.search("tide mill", access=access),
        "extract": lambda: shared.extract("tide mill", access=access),
        "documents": lambda: shared.documents(access=access),
        "stats": lambda: shared.stats(access=access),
    }
    method = "GET" if name in ("documents", "stats") else "POST"
    body = None if method == "GET" else {"query": "tide mill"}
    with serve(shared, auth=auth).client(ACME) as client:
        shown = client.request(method, f"/v1/{name}", json=body).json()
    own = calls[name]().to_json()
    for key in ("seconds", "after", "next", "compose", "gate", "writable", "auth"):
        shown.pop(key, None)
        own.pop(key, None)
    assert shown == own


def test_without_a_token_a_shared_corpus_answers_nobody(serve: Serve, shared: Engine) -> None:
    """The command refuses to start like this; an application made by hand still fails closed."""
    with serve(shared).client() as client:
        for method, path, body in REQUESTS.values():
            if path != "/metrics" and "index" not in path and method != "DELETE":
                answer = client.request(method, path, json=body)
                assert answer.status_code in (403, 501), path


def test_everybody_of_all_tenants_sees_all(serve: Serve, shared: Engine, auth: BearerAuth) -> None:
    with serve(shared, auth=auth).client(ALL) as client:
        documents = client.get("/v1/documents").json()["documents"]
        assert len(documents) == 4
        assert client.get("/v1/stats").json()["bundle"]["identity"]
