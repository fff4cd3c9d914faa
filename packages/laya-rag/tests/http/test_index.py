from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from laya_rag.config import Settings
from laya_rag.http import schemas
from laya_rag.http.audit import AuditLog, verify
from laya_rag.serving.auth import BearerAuth
from laya_rag.serving.source import EngineSource
from laya_rag.serving.writing import Writing

Serve = Callable[..., Any]
STACK = """
name: notes
source: {{provider: source.files, config: {{root: {root}, include: ["**/*.txt"]}}}}
signals: {{bm25: {{provider: tokenizer.word}}}}
export: {{path: {elsewhere}}}
"""
ALL = "all-token-0123456789"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "notes" / "sub").mkdir(parents=True)
    for name, text in {"one": "The tide mill.", "two": "The ferry.", "sub/three": "Fog."}.items():
        (tmp_path / "notes" / f"{name}.txt").write_text(text)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "keys.txt").write_text("hunter2")
    (tmp_path / "notes" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "stack.yaml").write_text(
        STACK.format(root=tmp_path / "notes", elsewhere=tmp_path / "elsewhere")
    )
    return tmp_path


@pytest.fixture
def writable(serve: Serve, place: Path) -> Any:
    return serve(*corpus(place), **options(place))


def corpus(place: Path) -> list[EngineSource]:
    settings = Settings().updated({"bundle": str(place / "bundle"), "gate.enabled": False})
    return [EngineSource(settings)]


def options(place: Path, **more: Any) -> dict[str, Any]:
    writing = Writing(place / "bundle", place / "stack.yaml", (place / "notes",))
    return {"writing": writing, "audit": AuditLog(place / "audit.jsonl"), **more}


def names(client: httpx2.Client) -> list[str]:
    return [row["document_id"] for row in client.get("/v1/documents").json()["documents"]]


def entries(place: Path) -> list[dict[str, Any]]:
    verify(place / "audit.jsonl")
    return [json.loads(line) for line in (place / "audit.jsonl").read_text().splitlines()]


def refused(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    shown: dict[str, Any] = answer.json()
    return shown


def test_from_nothing_to_an_index_and_back(writable: Any, place: Path) -> None:
    with writable.client() as client:
        for path in ("/readyz", "/v1/stats", "/v1/documents"):
            shown = client.get(path)
            refused(shown, 503, "not_ready")
            assert shown.headers["Retry-After"]
        refused(client.post("/v1/query", json={"query": "tide"}), 503, "not_ready")
        report = client.post("/v1/index", json={}).json()
        assert (report["state"], report["documents"], report["added"]) == ("built", 3, 3)
        assert names(client) == ["one.txt", "sub/three.txt", "two.txt"]
        assert client.get("/readyz").status_code == 200
        assert client.get("/v1/stats").json()["writable"] is True
        assert client.get("/v1/integrity").json()["sound"] is True
        schemas.Integrity.model_validate(client.get("/v1/integrity").json())
        schemas.Stats.model_validate(client.get("/v1/stats").json())
        schemas.IndexReport.model_validate(report)
        assert str(place) not in client.get("/v1/integrity").text
        (place / "notes" / "four.txt").write_text("The dyke watch.")
        assert client.post("/v1/index", json={}).json()["added"] == 1
        found = client.post("/v1/search", json={"query": "dyke"}).json()
        assert found["found"] == 1
        gone = client.request("DELETE", "/v1/index", json={"confirm": "reset"})
        assert gone.json() == {"state": "deleted"}
        refused(client.get("/readyz"), 503, "not_ready")
        refused(client.request("DELETE", "/v1/index", json={"confirm": "reset"}), 404, "not_found")
    assert [
        (entry["action"], entry["phase"], entry.get("outcome")) for entry in entries(place)
    ] == [
        *(("index", "begin", None), ("index", "end", "done")) * 2,
        *(("reset", "begin", None), ("reset", "end", "done")),
        *(("reset", "begin", None), ("reset", "end", "failed")),
    ]


@pytest.mark.parametrize("body", [{}, {"confirm": "yes"}, {"confirm": "Reset"}, {"confirm": True}])
def test_an_index_is_not_deleted_without_the_word(writable: Any, body: Any) -> None:
    with writable.client() as client:
        client.post("/v1/index", json={})
        shown = refused(client.request("DELETE", "/v1/index", json=body), 422, "invalid_request")
        assert shown["errors"][0]["pointer"] == "/confirm"
        assert len(names(client)) == 3


def test_documents_leave_and_stay_away(writable: Any) -> None:
    def delete(**body: Any) -> httpx2.Response:
        return client.request("DELETE", "/v1/documents", json=body)

    with writable.client() as client:
        refused(delete(ids=["one.txt"]), 404, "not_found")  # no index yet
        client.post("/v1/index", json={})
        would = delete(paths=["sub/**"], dry_run=True).json()
        assert (would["state"], would["deleted"]) == ("dry run", ["sub/three.txt"])
        assert len(names(client)) == 3
        done = delete(ids=["one.txt"]).json()
        schemas.DeleteReport.model_validate(done)
        assert (done["state"], done["deleted"], done["excluded"]) == ("changed", ["one.txt"], 1)
        assert names(client) == ["sub/three.txt", "two.txt"]
        assert client.post("/v1/index", json={}).json()["documents"] == 2
        shown = refused(delete(ids=["two.txt", "no-such"]), 404, "not_found")
        assert "no-such" not in str(shown)
        refused(delete(paths=["*.pdf"]), 404, "not_found")
        refused(delete(), 422, "invalid_request")
        assert names(client) == ["sub/three.txt", "two.txt"]


def test_documents_that_others_depend_on_wait_for_the_next_run(serve: Serve, place: Path) -> None:
    stack = (place / "stack.yaml").read_text()
    chunking = "chunk: {provider: chunker.paragraph, config: {chars: auto}}\nsignals"
    (place / "stack.yaml").write_text(stack.replace("signals", chunking))
    with serve(*corpus(place), **options(place)).client() as client:
        assert client.post("/v1/index", json={}).status_code == 200
        body: dict[str, Any] = {"ids": ["one.txt"]}
        refused(client.request("DELETE", "/v1/documents", json=body), 409, "needs_next_run")
        body["next_run"] = True
        assert client.request("DELETE", "/v1/documents", json=body).json()["listed"] == ["one.txt"]
        assert client.post("/v1/index", json={"remove_missing": True}).json()["documents"] == 2


@pytest.mark.parametrize(
    "folder", ["../secret", "link", "/etc", "nowhere", "sub/../..", "one.txt", "a\x00b", "~"]
)
def test_folders_elsewhere_are_not_indexed(writable: Any, place: Path, folder: str) -> None:
    with writable.client() as client:
        for path in ("/v1/index", "/v1/index/stream"):
            answer = client.post(path, json={"folder": folder})
            shown = refused(answer, 422, "invalid_request")
            assert shown["errors"] == [
                {
                    "in": "body",
                    "pointer": "/folder",
                    "detail": "lies in none of the folders that may be indexed",
                }
            ]
            assert str(place) not in answer.text
    assert not (place / "bundle").exists()


def test_documents_leave_only_with_a_word(writable: Any, place: Path) -> None:
    with writable.client() as client:
        client.post("/v1/index", json={})
        (place / "notes" / "one.txt").unlink()
        refused(client.post("/v1/index", json={}), 409, "would_remove")
        assert len(names(client)) == 3
        assert client.post("/v1/index", json={"dry_run": True}).json()["removed"] == 1
        assert client.post("/v1/index", json={"remove_missing": True}).json()["removed"] == 1
        assert len(names(client)) == 2


def test_without_permission_nothing_is_changed(serve: Serve, place: Path) -> None:
    with serve(*corpus(place)).client() as client:
        for method, path, body in (
            ("POST", "/v1/index", {}),
            ("POST", "/v1/index/stream", {}),
            ("DELETE", "/v1/index", {"confirm": "reset"}),
            ("DELETE", "/v1/documents", {"ids": ["x"]}),
        ):
            refused(client.request(method, path, json=body), 403, "read_only")


def test_without_a_stack_nothing_is_indexed(serve: Serve, place: Path) -> None:
    with serve(*corpus(place), writing=Writing(place / "bundle", None)).client() as client:
        for path in ("/v1/index", "/v1/index/stream"):
            refused(client.post(path, json={}), 501, "not_supported")


def test_a_broken_stack_says_nothing_of_this_machine(writable: Any, place: Path) -> None:
    (place / "stack.yaml").write_text("name: [")
    with writable.client() as client:
        for path in ("/v1/index", "/v1/index/stream"):
            answer = client.post(path, json={})
            refused(answer, 500, "index_failed")
            assert str(place) not in answer.text
            assert "stack.yaml" not in answer.text


def test_a_run_tells_how_far_it_is(writable: Any) -> None:
    with writable.client() as client:
        answer = client.post("/v1/index/stream", json={})
        events = [json.loads(line) for line in answer.text.splitlines()]
        assert {event["event"] for event in events[:-1]} == {"progress"}
        assert events[-1]["event"] == "result"
        assert events[-1]["documents"] == 3
        for event in events:
            schemas.IndexEvent.model_validate(event)
        done = [event["done"] for event in events[:-1]]
        assert done == sorted(done)
        again = client.post("/v1/index/stream", json={}, headers={"Accept": "text/event-stream"})
        assert 'event: result\ndata: {"event":"result","state":"unchanged"' in again.text


class Held(Writing):
    """Writes once it may."""

    began = threading.Event()
    go = threading.Event()

    def index(self, folder: str | None, **given: Any) -> Any:
        self.began.set()
        while not self.go.wait(0.01):
            given["cancel"].check()
        return super().index(folder, **given)


@pytest.fixture
def held(place: Path) -> Held:
    Held.began, Held.go = threading.Event(), threading.Event()
    return Held(place / "bundle", place / "stack.yaml", (place / "notes",))


def test_readers_keep_what_they_read_while_another_index_is_made(
    serve: Serve, place: Path, held: Held
) -> None:
    with serve(*corpus(place), **options(place, writing=held)).client() as client:
        held.go.set()
        client.post("/v1/index", json={})
        (place / "notes" / "four.txt").write_text("The dyke watch.")
        held.go.clear()
        held.began.clear()
        answers: list[httpx2.Response] = []
        thread = threading.Thread(target=lambda: answers.append(client.post("/v1/index", json={})))
        thread.start()
        assert held.began.wait(20)
        for path in ("/v1/index", "/v1/index/stream"):
            busy = client.post(path, json={})
            refused(busy, 409, "index_busy")
            assert busy.headers["Retry-After"] == "5"
        reset = client.request("DELETE", "/v1/index", json={"confirm": "reset"})
        refused(reset, 409, "index_busy")
        assert len(names(client)) == 3
        assert client.post("/v1/search", json={"query": "tide"}).json()["found"] == 1
        held.go.set()
        thread.join()
        assert answers[0].json()["added"] == 1
        assert len(names(client)) == 4


@pytest.mark.parametrize("path", ["/v1/index", "/v1/index/stream"])
def test_who_leaves_stops_the_run_and_may_ask_again(
    serve: Serve, place: Path, held: Held, path: str
) -> None:
    served = serve(*corpus(place), **options(place, writing=held))
    key = {"Idempotency-Key": "once"}
    with served.client() as client:
        client.timeout = 0.3
        with pytest.raises(httpx2.ReadTimeout):
            client.post(path, json={}, headers=key)
        assert held.began.wait(20)
        client.timeout = 20
        while client.post(path, json={"dry_run": True}).status_code == 409:
            held.go.set()
        assert not (place / "bundle").exists()
        assert entries(place)[-1]["outcome"] == "stopped"
        answer = client.post(path, json={}, headers=key)
        assert answer.status_code == 200
        assert "Idempotency-Replayed" not in answer.headers
        assert len(names(client)) == 3


def test_a_key_does_it_once(writable: Any, place: Path) -> None:
    key = {"Idempotency-Key": "k1"}
    with writable.client() as client:
        first = client.post("/v1/index", json={}, headers=key)
        assert "Idempotency-Replayed" not in first.headers
        (place / "notes" / "four.txt").write_text("The dyke watch.")
        again = client.post("/v1/index", json={}, headers=key)
        assert again.headers["Idempotency-Replayed"] == "true"
        assert again.json() == first.json()
        other = client.post("/v1/index", json={"dry_run": True}, headers=key)
        refused(other, 422, "key_reused")
        stream = client.post("/v1/index/stream", json={}, headers=key)
        assert stream.headers["Idempotency-Replayed"] == "true"
        assert json.loads(stream.text) == {"event": "result", **first.json()}
        assert len(names(client)) == 3
        gone = client.request(
            "DELETE", "/v1/documents", json={"ids": ["one.txt"]}, headers={"Idempotency-Key": "k2"}
        )
        assert (
            client.request(
                "DELETE",
                "/v1/documents",
                json={"ids": ["one.txt"]},
                headers={"Idempotency-Key": "k2"},
            ).json()
            == gone.json()
        )
        for bad in ("", "x" * 256, "with blank", "tab\tbed"):
            shown = refused(
                client.post("/v1/index", json={}, headers={"Idempotency-Key": bad}),
                422,
                "invalid_request",
            )
            error = shown["errors"][0]
            assert (error["in"], error["pointer"]) == ("header", "/Idempotency-Key")
    assert sum(entry["phase"] == "end" for entry in entries(place)) == 2


def test_a_key_that_runs_is_in_flight_and_belongs_to_one_caller(
    serve: Serve, place: Path, held: Held, auth: BearerAuth
) -> None:
    served = serve(*corpus(place), **options(place, writing=held, auth=auth))
    key = {"Idempotency-Key": "mine"}
    with served.client(ALL) as client:
        thread = threading.Thread(target=lambda: client.post("/v1/index", json={}, headers=key))
        thread.start()
        assert held.began.wait(20)
        running = client.post("/v1/index", json={}, headers=key)
        refused(running, 409, "in_flight")
        assert running.headers["Retry-After"] == "2"
        held.go.set()
        thread.join()
        again = client.post("/v1/index", json={}, headers=key)
        assert again.headers["Idempotency-Replayed"] == "true"


def test_what_cannot_be_recorded_is_not_done(writable: Any, place: Path) -> None:
    with writable.client() as client:
        (place / "audit.jsonl").write_text("broken\n")
        answer = client.post("/v1/index", json={})
        refused(answer, 500, "internal_error")
        assert "audit" not in answer.text
    assert not (place / "bundle").exists()


def test_the_record_says_who_and_what_and_no_token(
    serve: Serve, place: Path, auth: BearerAuth
) -> None:
    served = serve(*corpus(place), **options(place, auth=auth))
    with served.client(ALL) as client:
        named = {"X-Request-ID": "req-7"}
        client.post("/v1/index", json={"folder": "sub"}, headers=named)
        client.post("/v1/index", json={"dry_run": True})
    begin, end = entries(place)
    assert (begin["caller"], begin["request_id"], begin["action"]) == ("all", "req-7", "index")
    assert begin["details"]["folder"] == "sub"
    assert (end["outcome"], end["result"]["documents"]) == ("done", 1)
    assert ALL not in (place / "audit.jsonl").read_text()
