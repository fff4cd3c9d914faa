from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from laya_rag.config import Settings
from laya_rag.engine import Engine
from laya_rag.serving.auth import BearerAuth
from laya_rag.serving.source import EngineSource
from laya_rag.testing import MemoryCorpus, chunk
from laya_retrieval.testing import FakeDecisionModel

Serve = Callable[..., Any]


def pages(client: httpx2.Client, path: str, **options: Any) -> Iterator[dict[str, Any]]:
    cursor = None
    while True:
        parameters = options | ({} if cursor is None else {"cursor": cursor})
        answer = client.get(path, params=parameters)
        assert answer.status_code == 200, answer.text
        yield answer.json()
        cursor = answer.json()["next"]
        if cursor is None:
            return


@pytest.mark.parametrize("limit", [1, 2, 4, 5, 500])
def test_documents_come_page_by_page(site: Any, limit: int) -> None:
    with site.client() as client:
        found = list(pages(client, "/v1/documents", limit=limit))
    ids = [row["document_id"] for page in found for row in page["documents"]]
    assert ids == ["mill/0", "mill/1", "mill/2", "mill/3", "readme"]
    assert all(len(page["documents"]) == limit for page in found[:-1])


def test_passages_come_page_by_page(site: Any) -> None:
    with site.client() as client:
        found = list(pages(client, "/v1/chunks", document_id="mill/2", limit=2))
        assert [c["ordinal"] for page in found for c in page["chunks"]] == [0, 1, 2]
        assert all(page["document"]["document_id"] == "mill/2" for page in found)
        one = client.get("/v1/documents/mill/2").json()
        assert one == found[0]["document"]


def test_passages_come_by_id(site: Any) -> None:
    ids = ["mill/1#chunk-2", "readme#chunk-0"]
    with site.client() as client:
        found = client.get("/v1/chunks", params={"record_id": ids}).json()
        assert [item["record_id"] for item in found["chunks"]] == ids
        missing = client.get("/v1/chunks", params={"record_id": [*ids, "gone"]})
        assert missing.status_code == 404
        assert "gone" not in missing.text


def test_a_cursor_is_of_one_listing_and_one_caller(
    serve: Serve, shared: Engine, auth: BearerAuth
) -> None:
    served = serve(shared, auth=auth)
    with (
        served.client("all-token-0123456789") as everybody,
        served.client("reader-token-0123456789") as reader,
        served.client("acme-token-0123456789") as acme,
    ):
        cursor = everybody.get("/v1/documents?limit=1").json()["next"]
        own = {"cursor": cursor, "limit": 3}
        assert len(everybody.get("/v1/documents", params=own).json()["documents"]) == 3
        for client in (reader, acme):
            answer = client.get("/v1/documents", params=own)
            assert answer.json()["code"] == "invalid_cursor"
        for document in ("acme/one", "both/one"):
            wanted = {"document_id": document, "cursor": cursor}
            assert everybody.get("/v1/chunks", params=wanted).status_code == 400


class Replaced(EngineSource):
    """A source whose engine can be put in place of another."""

    def replace(self, engine: Engine) -> None:
        self._given = self._engine = engine


def corpus(*tenants: str) -> Engine:
    rows = [chunk(f"d{n}#chunk-0", f"tide {n}", tenants=["acme"]) for n in range(3)]
    rows += [chunk(f"{name}#chunk-0", "mill", tenants=[name]) for name in tenants]
    return Engine(MemoryCorpus(rows), Settings(), model=FakeDecisionModel())


def test_a_cursor_ends_with_its_corpus_where_the_caller_may_know_of_that(
    serve: Serve, auth: BearerAuth
) -> None:
    source = Replaced(Settings(), engine=corpus("globex"))
    served = serve(source, auth=auth)
    with (
        served.client("all-token-0123456789") as everybody,
        served.client("acme-token-0123456789") as acme,
    ):
        cursors = [
            client.get("/v1/documents?limit=1").json()["next"] for client in (everybody, acme)
        ]
        source.replace(corpus("globex", "initech"))
        answers = [
            client.get("/v1/documents", params={"cursor": cursor})
            for client, cursor in zip((everybody, acme), cursors, strict=True)
        ]
    assert answers[0].json()["code"] == "invalid_cursor"
    # What changed was another tenant's: this caller must not even notice.
    assert [row["document_id"] for row in answers[1].json()["documents"]] == ["d1", "d2"]
