from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from laya_rag.compose import EvidenceEvent
from laya_rag.engine import CancelToken, Engine
from laya_rag.errors import StoppedError
from laya_rag.http.streams import NDJSON, SSE, EventStream, Relay, media_type_of

Serve = Callable[..., Any]


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", NDJSON),
        ("*/*", NDJSON),
        ("application/json", NDJSON),
        ("application/x-ndjson, text/event-stream", NDJSON),
        ("text/event-stream", SSE),
        ("Text/Event-Stream; charset=utf-8", SSE),
        ("text/event-stream, */*", SSE),
        ("text/event-stream;q=0.5, */*", NDJSON),
        ("text/event-stream;q=0.5, */*;q=0.1", SSE),
        ("text/event-stream;q=0", NDJSON),
        ("text/event-stream;q=x", NDJSON),
        ("text/*", SSE),
        ("application/x-ndjson;q=0.2, text/event-stream;q=0.3", SSE),
    ],
)
def test_ndjson_or_what_is_rather_accepted(accept: str, wanted: str) -> None:
    assert media_type_of(accept) == wanted


def drained(work: Callable[[Relay], Any], heartbeat: float = 5.0) -> list[Any]:
    async def main() -> list[Any]:
        relay = Relay()
        stream = EventStream(
            relay,
            work(relay),
            lambda error: {"event": "error", "code": str(error)},
            heartbeat=heartbeat,
        )
        await stream.begin()
        return [event async for event in stream.events()]

    return asyncio.run(asyncio.wait_for(main(), 20))


def in_thread(steps: Callable[[Relay], Any]) -> Callable[[Relay], Any]:
    return lambda relay: asyncio.to_thread(steps, relay)


def test_every_event_arrives_in_order_and_the_result_last() -> None:
    def steps(relay: Relay) -> dict[str, Any]:
        for number in range(500):
            relay.put({"event": "text", "n": number}, CancelToken())
        return {"event": "result"}

    events = drained(in_thread(steps))
    assert [event.get("n") for event in events] == [*range(500), None]
    assert events[-1] == {"event": "result"}


def test_news_that_nobody_took_is_dropped_and_never_waits() -> None:
    def steps(relay: Relay) -> dict[str, Any]:
        for number in range(10_000):
            relay.offer({"event": "progress", "n": number})
        return {"event": "result"}

    events = drained(in_thread(steps))
    assert events[-1] == {"event": "result"}
    numbers = [event["n"] for event in events[:-1]]
    assert numbers == sorted(numbers)


def test_what_fails_before_the_first_event_is_raised() -> None:
    def steps(relay: Relay) -> None:
        raise ValueError("early")

    with pytest.raises(ValueError, match="early"):
        drained(in_thread(steps))


def test_what_fails_later_is_the_last_event() -> None:
    def steps(relay: Relay) -> None:
        relay.put({"event": "text"}, CancelToken())
        asyncio.run(asyncio.sleep(0.1))
        raise ValueError("late")

    assert drained(in_thread(steps)) == [{"event": "text"}, {"event": "error", "code": "late"}]


def test_silence_is_broken_by_a_sign_of_life() -> None:
    async def work(relay: Relay) -> dict[str, Any]:
        await asyncio.sleep(0.3)
        return {"event": "result"}

    events = drained(work, heartbeat=0.05)
    assert events.count(None) >= 2
    assert events[-1] == {"event": "result"}


def test_a_writer_that_waits_for_room_can_be_stopped() -> None:
    async def main() -> None:
        relay, cancel = Relay(), CancelToken()

        def steps() -> None:
            while True:
                relay.put({"event": "text"}, cancel)

        task = asyncio.create_task(asyncio.to_thread(steps))
        while not relay.queue.full():
            await asyncio.sleep(0.01)
        cancel.cancel()
        with pytest.raises(StoppedError):
            await task

    asyncio.run(asyncio.wait_for(main(), 20))


class Piece:
    def __init__(self, **shown: Any) -> None:
        self.shown = shown

    def to_json(self) -> dict[str, Any]:
        return self.shown


TEXT = "line one\nline two \u2028 ümlaut \x00 data: no\r\n"


def composer(engine: Engine, query: str, **options: Any) -> Any:
    del options["settings"], options["adjudicate"]
    yield EvidenceEvent(engine.ask(query, **options))
    yield Piece(event="text", text=TEXT)
    yield Piece(event="result", text="done")


def test_a_stream_as_ndjson(serve: Serve) -> None:
    with serve(composer=composer).client() as client:
        answer = client.post(
            "/v1/compose", json={"query": "tide mill"}, headers={"Accept-Encoding": "gzip"}
        )
    assert answer.headers["Content-Type"] == NDJSON
    assert "Content-Encoding" not in answer.headers
    assert "Content-Length" not in answer.headers
    assert answer.headers["X-Accel-Buffering"] == "no"
    events = [json.loads(line) for line in answer.content.split(b"\n")[:-1]]
    assert [event["event"] for event in events] == ["evidence", "text", "result"]
    assert events[0]["verdict"]["state"] == "measured"
    assert events[1]["text"] == TEXT


def test_a_stream_as_server_sent_events(serve: Serve) -> None:
    with serve(composer=composer).client() as client:
        answer = client.post(
            "/v1/compose",
            json={"query": "tide mill"},
            headers={"Accept": SSE, "Accept-Encoding": "gzip"},
        )
    assert answer.headers["Content-Type"].startswith(SSE)
    assert "Content-Encoding" not in answer.headers
    blocks = answer.content.decode().split("\n\n")[:-1]
    names, data = zip(*(block.split("\n") for block in blocks), strict=True)
    assert names == ("event: evidence", "event: text", "event: result")
    assert json.loads(data[1].removeprefix("data: "))["text"] == TEXT


def test_without_a_language_model_there_is_no_stream(site: Any) -> None:
    with site.client() as client:
        answer = client.post("/v1/compose", json={"query": "tide"})
        assert (answer.status_code, answer.json()["code"]) == (501, "not_supported")
        assert client.get("/v1/stats").json()["compose"]["available"] is False


@pytest.mark.parametrize(("accept", "alive"), [(NDJSON, b"heartbeat"), (SSE, b": heartbeat")])
def test_while_the_model_thinks_the_line_is_kept_open(
    serve: Serve, accept: str, alive: bytes
) -> None:
    def slow(engine: Engine, query: str, **options: Any) -> Any:
        asyncio.run(asyncio.sleep(0.4))
        yield Piece(event="result")

    with serve(composer=slow, heartbeat=0.1).client() as client:
        answer = client.post("/v1/compose", json={"query": "x"}, headers={"Accept": accept})
    assert answer.content.count(alive) >= 2
    assert b"result" in answer.content


def test_a_failure_in_the_middle_says_nothing_but_where_to_look(serve: Serve) -> None:
    def failing(engine: Engine, query: str, **options: Any) -> Any:
        yield Piece(event="text", text="half")
        asyncio.run(asyncio.sleep(0.1))
        raise RuntimeError("http://10.0.0.1/secret")

    with serve(composer=failing).client() as client:
        answer = client.post(
            "/v1/compose", json={"query": "x"}, headers={"X-Request-ID": "look-here"}
        )
    last = json.loads(answer.content.split(b"\n")[-2])
    assert (last["event"], last["code"], last["request_id"]) == (
        *("error", "internal_error"),
        "look-here",
    )
    assert b"secret" not in answer.content
