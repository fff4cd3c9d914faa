from __future__ import annotations

from typing import Any

import pytest
from laya_rag.access import Access
from laya_rag.engine import Engine
from laya_rag.mcp import BearerAuth, Caller, NotFoundError, RetrievalServer
from laya_rag.testing import MemoryCorpus, chunk
from laya_retrieval.candidate import Candidate
from laya_retrieval.retrieve.backend import Capability
from laya_retrieval.retrieve.query import QueryBundle
from laya_retrieval.testing import FakeBackend

ANN, BOB = "ann-token-0123456789", "bob-token-0123456789"


def ids(result: Any) -> list[str]:
    data = result.model_dump()
    return [item["record_id"] for item in data.get("hits", data.get("passages"))]


def test_hits_are_short_and_numbered_from_one(engine: Engine) -> None:
    long = chunk("long#chunk-0", "tide " * 200)
    server = RetrievalServer(Engine(MemoryCorpus([long])))
    hit = server.call("search", {"query": "tide"}).model_dump()["hits"][0]
    assert hit["n"] == 1
    assert hit["cut"]
    assert len(hit["text"]) < 250


def test_as_many_hits_as_were_asked_for(server: RetrievalServer) -> None:
    for limit in (1, 5, 14):
        result = server.call("search", {"query": "tide mill", "limit": limit})
        assert len(ids(result)) == limit


def test_more_of_the_kind_leaves_out_the_record_itself(server: RetrievalServer) -> None:
    found = ids(server.call("more_like_this", {"record_id": "mill/1#chunk-1", "limit": 3}))
    assert len(found) == 3
    assert "mill/1#chunk-1" not in found


@pytest.mark.parametrize(
    ("ordinal", "before", "after", "wanted"),
    [(1, 1, 1, [0, 1, 2]), (0, 2, 0, [0]), (3, 1, 5, [2, 3]), (2, 0, 0, [2]), (0, 0, 2, [0, 1, 2])],
)
def test_neighbours_come_in_reading_order(
    server: RetrievalServer, ordinal: int, before: int, after: int, wanted: list[int]
) -> None:
    arguments = {"record_id": f"mill/1#chunk-{ordinal}", "before": before, "after": after}
    result = server.call("get_context", arguments)
    assert ids(result) == [f"mill/1#chunk-{n}" for n in wanted]
    assert "(the passage asked for)" in result.readable()


def test_hidden_neighbours_stay_hidden() -> None:
    rows = [
        chunk("d#chunk-0", "tide one"),
        chunk("d#chunk-1", "tide two", tier="quarantined"),
        chunk("d#chunk-2", "tide three"),
    ]
    server = RetrievalServer(Engine(MemoryCorpus(rows)))
    assert ids(server.call("get_context", {"record_id": "d#chunk-0"})) == ["d#chunk-0", "d#chunk-2"]


def test_any_backend_serves_all_three() -> None:
    server = RetrievalServer(FakeBackend())
    assert ids(server.call("search", {"query": "revenue", "limit": 3})) == ["d0", "d1", "d2"]
    assert ids(server.call("more_like_this", {"record_id": "d1", "limit": 2})) == ["d0", "d2"]
    context = server.call("get_context", {"record_id": "d2", "before": 1, "after": 1})
    assert ids(context) == ["d1", "d2", "d3"]
    assert context.model_dump()["complete"]


def test_a_plain_backend_is_asked_only_about_what_it_showed_to_this_caller() -> None:
    everything = Access(all_tenants=True)
    auth = BearerAuth.of({ANN: Caller("ann", everything), BOB: Caller("bob", everything)})
    server = RetrievalServer(FakeBackend(), auth=auth)
    server.call("search", {"query": "revenue"}, ANN)
    server.call("more_like_this", {"record_id": "d1"}, ANN)
    with pytest.raises(NotFoundError):
        server.call("more_like_this", {"record_id": "d1"}, BOB)


def test_a_plain_backend_keeps_tenants_apart() -> None:
    rows = [
        Candidate("a", 0.9, "tide", {"tenants": ["acme"], "ordinal": 0}),
        Candidate("g", 0.8, "tide", {"tenants": ["globex"], "ordinal": 1}),
        Candidate("n", 0.7, "tide", {"ordinal": 2}),
    ]
    auth = BearerAuth.of({ANN: Caller("ann", Access(["acme"])), BOB: Caller("bob", Access())})
    server = RetrievalServer(FakeBackend(rows), auth=auth)
    assert ids(server.call("search", {"query": "tide"}, ANN)) == ["a"]
    assert ids(server.call("get_context", {"record_id": "a"}, ANN)) == ["a"]
    assert ids(server.call("search", {"query": "tide"}, BOB)) == []  # no tenants: nothing


def test_a_backend_that_cannot_filter_shows_the_record_alone_and_says_so() -> None:
    server = RetrievalServer(FakeBackend(capabilities={Capability.BM25}))
    server.call("search", {"query": "revenue"})
    context = server.call("get_context", {"record_id": "d2"}).model_dump()
    assert [p["record_id"] for p in context["passages"]] == ["d2"]
    assert not context["complete"]


def test_a_query_gets_the_signals_that_the_backend_wants() -> None:
    backend = FakeBackend(capabilities={Capability.DENSE})

    def with_vector(text: str, **options: Any) -> QueryBundle:
        return QueryBundle(text, vector=[1, 0, 0, 0], **options)

    server = RetrievalServer(backend, query=with_vector)
    assert server.call("search", {"query": "revenue"}).model_dump()["legs"] == ["dense"]
