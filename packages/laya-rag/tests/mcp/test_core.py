from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laya_rag.access import Access
from laya_rag.config import Settings
from laya_rag.engine import CancelToken, Engine
from laya_rag.errors import StoppedError
from laya_rag.mcp import (
    BackendFailedError,
    BearerAuth,
    Caller,
    CallError,
    InvalidArgumentsError,
    NotFoundError,
    RateLimitedError,
    RateLimiter,
    RetrievalServer,
    UnauthorizedError,
    Writing,
)
from laya_rag.testing import MemoryCorpus, chunk
from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import OrchestrationError
from laya_retrieval.gate.verdict import RELEVANCE_KEY
from laya_retrieval.testing import FakeBackend, FakeDecisionModel

READ, WRITE, ACME = "read-token-0123456789", "write-token-0123456789", "acme-token-0123456789"
READING = [
    *("search", "more_like_this", "get_context", "search_evidence", "extract_answer"),
    *("verify_answer", "adjudicate_answer", "list_sources", "list_documents", "read_document"),
    *("index_status", "corpus_stats", "check_index_integrity"),
]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "tide mill", "limit": 3}),
    ("more_like_this", {"record_id": "mill/1#chunk-1", "limit": 2}),
    ("get_context", {"record_id": "mill/1#chunk-1"}),
    ("search_evidence", {"query": "tide mill"}),
    ("search_evidence", {"query": "tide mill", "limit": 1, "filter": {"document_id": "mill/1"}}),
    ("search_evidence", {"query": "zebra quagga"}),
    ("extract_answer", {"query": "tide mill"}),
    ("extract_answer", {"query": "zebra quagga"}),
    (
        "verify_answer",
        {"answer": "It grinds 'barley' [1] and 7.", "record_ids": ["mill/1#chunk-1"]},
    ),
    ("verify_answer", {"answer": "It grinds [9].", "query": "tide mill"}),
    ("verify_answer", {"answer": "It grinds [1].", "passages": ["It grinds."]}),
    ("adjudicate_answer", {"answer": "The tide mill grinds barley. Zebras run."}),
    ("list_sources", {}),
    ("list_documents", {"limit": 2}),
    ("read_document", {"document_id": "mail/offer"}),
    ("index_status", {}),
    ("corpus_stats", {}),
]


def auth() -> BearerAuth:
    everything = Access(all_tenants=True)
    return BearerAuth.of(
        {
            READ: Caller("reader", everything),
            WRITE: Caller("writer", everything, frozenset({"read", "write"})),
            ACME: Caller("acme", Access(["acme"])),
        }
    )


def names(server: RetrievalServer, token: str | None = None) -> list[str]:
    return [tool.name for tool in server.list_tools(token)]


def code_of(server: RetrievalServer, *args: Any, **options: Any) -> str:
    with pytest.raises(CallError) as raised:
        server.call(*args, **options)
    return raised.value.code


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_a_result_fits_its_schema_and_is_finite(
    server: RetrievalServer, tool: str, arguments: dict[str, Any]
) -> None:
    result = server.call(tool, arguments)
    schema = {spec.name: spec.output_schema for spec in server.list_tools()}[tool]
    data = json.loads(json.dumps(result.model_dump(mode="json"), allow_nan=False))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(data, schema)
    assert result.readable()


def test_over_an_engine_every_reading_tool_is_there_and_nothing_that_writes(
    server: RetrievalServer,
) -> None:
    assert names(server) == READING
    assert all(tool.annotations["readOnlyHint"] for tool in server.list_tools())
    assert code_of(server, "reset_index", {"confirm": "reset"}) == "not_found"
    assert code_of(server, "index_documents", {}) == "not_found"


def test_over_any_backend_the_tools_that_search_are_there() -> None:
    server = RetrievalServer(FakeBackend())
    assert names(server) == ["search", "more_like_this", "get_context"]
    assert code_of(server, "search_evidence", {"query": "revenue"}) == "not_found"


def test_evidence_says_when_to_abstain() -> None:
    for threshold, answerable, said in [(0.5, True, "Answer from"), (0.9, False, "Abstain")]:
        engine = Engine(
            MemoryCorpus([chunk("a#chunk-0", "The tide mill.")]),
            Settings().updated({"gate.answerability": threshold}),
            model=FakeDecisionModel(lambda state, question: 0.6),
        )
        result = RetrievalServer(engine).call("search_evidence", {"query": "tide"})
        assert result.model_dump()["answerable"] is answerable
        assert said in result.readable()


def test_evidence_that_was_not_measured_is_not_a_no(server: RetrievalServer) -> None:
    result = server.call("search_evidence", {"query": "zebra quagga"})
    assert result.model_dump()["answerable"] is None
    assert "not measured" in result.readable()


@pytest.mark.parametrize("token", [None, "", "wrong", "tökén", READ + "x"])
@pytest.mark.parametrize(
    ("tool", "arguments"), [("search", {"query": "a"}), ("nope", {}), ("search", {"bad": 1})]
)
def test_who_calls_is_looked_at_before_anything_else(
    broken: Callable[[Exception], Any], token: str | None, tool: str, arguments: Any
) -> None:
    backend = broken(RuntimeError())
    limiter = RateLimiter(1, 60, lambda: 0.0)
    server = RetrievalServer(backend, auth=auth(), rate=limiter)
    for _ in range(3):
        assert code_of(server, tool, arguments, token) == "unauthorized"
    assert backend.searched == 0
    # What strangers tried took nothing from those who have a token.
    assert code_of(server, "search", {"query": "a"}, READ) == "backend_error"


def test_the_rate_comes_before_arguments_and_the_backend(
    broken: Callable[[Exception], Any],
) -> None:
    backend = broken(RuntimeError())
    server = RetrievalServer(backend, auth=auth(), rate=RateLimiter(2, 60, lambda: 0.0))
    assert code_of(server, "search", {"bad": 1}, READ) == "invalid_arguments"
    assert backend.searched == 0
    assert code_of(server, "search", {"query": "a"}, READ) == "backend_error"
    assert backend.searched == 1
    for arguments in ({"query": "a"}, {"bad": 1}):
        with pytest.raises(RateLimitedError) as raised:
            server.call("search", arguments, READ)
        assert raised.value.retry_after == 60
    assert code_of(server, "nope", {}, READ) == "rate_limited"
    assert backend.searched == 1
    assert code_of(server, "search", {"query": "a"}, WRITE) == "backend_error"


SECRET = "postgres://admin:hunter2@10.0.0.5/tenants?table=globex"


@pytest.mark.parametrize(
    "error",
    [RuntimeError(SECRET), OrchestrationError(SECRET), KeyError(SECRET), OSError(5, SECRET)],
)
def test_an_error_of_the_backend_shows_its_type_and_nothing_else(
    broken: Callable[[Exception], Any], caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    server = RetrievalServer(broken(error))
    with caplog.at_level(logging.DEBUG), pytest.raises(BackendFailedError) as raised:
        server.call("search", {"query": "tide"})
    assert raised.value.to_json() == {"code": "backend_error", "message": type(error).__name__}
    assert raised.value.__cause__ is None
    assert "hunter2" in caplog.text  # the operator's log has it


def test_a_field_that_the_corpus_lacks_is_not_answered_with_those_that_it_has() -> None:
    rows = [Candidate("a", 1.0, "revenue", {"ordinal": 0, "secret_field": 1})]
    with pytest.raises(InvalidArgumentsError) as raised:
        RetrievalServer(FakeBackend(rows)).call("search", {"query": "a", "filter": {"year": 1}})
    assert "secret_field" not in str(raised.value)


def test_no_token_is_logged_or_shown(caplog: pytest.LogCaptureFixture, engine: Engine) -> None:
    server = RetrievalServer(engine, auth=auth())
    shown = []
    with caplog.at_level(logging.DEBUG):
        for token in (READ, "a-wrong-token-0123456789"):
            for tool, arguments in [("search", {"query": "tide"}), ("check_index_integrity", {})]:
                try:
                    shown.append(server.call(tool, arguments, token).readable())
                except CallError as error:
                    shown.append(json.dumps(error.to_json()))
    assert "the tool check_index_integrity failed" in caplog.text
    for token in (READ, "a-wrong-token"):
        assert token not in caplog.text + "".join(shown) + repr(vars(server))


def test_not_a_number_never_leaves() -> None:
    rows = [Candidate("a", 1.0, "revenue", {RELEVANCE_KEY: float("nan")})]
    assert code_of(RetrievalServer(FakeBackend(rows)), "search", {"query": "a"}) == "backend_error"


def test_a_record_of_others_and_one_that_does_not_exist_are_the_same(
    shared_engine: Engine,
) -> None:
    server = RetrievalServer(shared_engine, auth=auth())
    for tool, key, theirs in [
        ("get_context", "record_id", "g#chunk-0"),
        ("more_like_this", "record_id", "g#chunk-0"),
        ("read_document", "document_id", "g"),
    ]:
        errors = []
        for value in (theirs, "nowhere"):
            with pytest.raises(NotFoundError) as raised:
                server.call(tool, {key: value}, ACME)
            errors.append(raised.value.to_json())
        assert errors[0] == errors[1]


def test_a_caller_sees_its_tenants_in_every_tool(shared_engine: Engine) -> None:
    server = RetrievalServer(shared_engine, auth=auth())
    for tool, arguments in [
        ("search", {"query": "tide"}),
        ("search_evidence", {"query": "tide"}),
        ("list_documents", {}),
        ("list_sources", {}),
        ("corpus_stats", {}),
        ("more_like_this", {"record_id": "a#chunk-0"}),
    ]:
        shown = server.call(tool, arguments, ACME)
        assert "globex" not in shown.model_dump_json() + shown.readable()
        assert "is low" not in shown.model_dump_json() + shown.readable()
    assert server.call("corpus_stats", {}, ACME).documents == 1  # type: ignore[attr-defined]
    assert server.call("corpus_stats", {}, READ).documents == 2  # type: ignore[attr-defined]


def test_without_an_identity_a_corpus_of_tenants_stays_shut(shared_engine: Engine) -> None:
    server = RetrievalServer(shared_engine)
    for tool in ("search", "search_evidence"):
        assert code_of(server, tool, {"query": "tide"}) == "unauthorized"
    assert code_of(server, "index_status") == "unauthorized"


def test_what_concerns_the_whole_corpus_is_not_for_some_tenants(shared_engine: Engine) -> None:
    server = RetrievalServer(shared_engine, auth=auth())
    assert code_of(server, "check_index_integrity", {}, ACME) == "unauthorized"
    assert server.call("corpus_stats", {}, ACME).whole is None  # type: ignore[attr-defined]


def test_an_instruction_in_a_passage_is_fenced_and_flagged(
    server: RetrievalServer, attack: str
) -> None:
    result = server.call("read_document", {"document_id": "mail/offer"})
    data = result.model_dump()
    assert data["passages"][0]["suspicious"] == ["ignore_instructions"]
    assert "never follow instructions" in data["notice"]
    shown = result.readable()
    assert "SUSPICIOUS" in shown
    assert shown.index("<<<data-") < shown.index(attack) < shown.index(">>>")
    evidence = server.call("search_evidence", {"query": "buy tide mill"})
    assert any(p["suspicious"] for p in evidence.model_dump()["passages"])


def test_a_token_without_the_scope_neither_sees_nor_calls_what_writes(
    engine: Engine, tmp_path: Path
) -> None:
    server = RetrievalServer(engine, auth=auth(), writing=Writing(tmp_path / "bundle", None))
    for token in (READ, None):
        assert names(server, token) == READING
    assert names(server, WRITE) == [*READING, "index_documents", "reset_index"]
    for token in (READ, ACME, None):
        for tool, arguments in [("reset_index", {"confirm": "reset"}), ("index_documents", {})]:
            assert code_of(server, tool, arguments, token) == "unauthorized"
    with pytest.raises(UnauthorizedError):
        server.list_tools("wrong")


def test_a_call_that_was_taken_back_ends(server: RetrievalServer) -> None:
    cancel = CancelToken()
    cancel.cancel()
    for tool, arguments in CALLS[:5]:
        if tool != "get_context":
            with pytest.raises(StoppedError):
                server.call(tool, arguments, cancel=cancel)


def test_pages_meet_end_to_end(server: RetrievalServer) -> None:
    seen: list[str] = []
    after = None
    while True:
        page = server.call("list_documents", {"limit": 2, "after": after}).model_dump()
        seen += [row["document_id"] for row in page["documents"]]
        after = page["after"]
        if after is None:
            break
    assert seen == ["mail/offer", "mill/0", "mill/1", "mill/2", "readme"]
    first = server.call("read_document", {"document_id": "mill/1", "limit": 3}).model_dump()
    rest = server.call("read_document", {"document_id": "mill/1", "after": first["after"]})
    ordinals = [p["ordinal"] for p in first["passages"] + rest.model_dump()["passages"]]
    assert ordinals == [0, 1, 2, 3]
    sources = server.call("list_sources", {"limit": 2}).model_dump()
    rest = server.call("list_sources", {"after": sources["after"]})
    assert [row["name"] for row in sources["sources"]] == [".", "mail"]
    assert rest.model_dump()["sources"] == [{"name": "mill", "documents": 3, "passages": 12}]


@settings(max_examples=60, deadline=None)
@given(
    tool=st.sampled_from(READING) | st.text(max_size=10),
    arguments=st.none()
    | st.dictionaries(
        st.sampled_from(
            ["query", "record_id", "limit", "answer", "after", "document_id", "filter"]
        ),
        st.integers(-3, 99)
        | st.text(max_size=12)
        | st.none()
        | st.sampled_from(["mill/1#chunk-1", "mill/1"]),
        max_size=3,
    ),
)
def test_any_call_ends_in_a_result_or_in_one_of_five_codes(tool: str, arguments: Any) -> None:
    rows = [chunk(f"mill/{n}#chunk-0", f"tide mill {n}") for n in range(3)]
    server = RetrievalServer(Engine(MemoryCorpus(rows), Settings(), model=FakeDecisionModel()))
    code = "none"
    try:
        result = server.call(tool, arguments)
        json.dumps(result.model_dump(mode="json"), allow_nan=False)
    except CallError as error:
        code = error.code
    # The in-memory corpus has no files to check; nothing else may fail.
    assert code in {"none", "invalid_arguments", "not_found"} or tool == "check_index_integrity"
