"""The client of both chat routes, against a real HTTP server on loopback."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from laya_rag.compose import server as server_module
from laya_rag.compose import wire as wire_module
from laya_rag.compose.chat import Piece
from laya_rag.compose.errors import PUBLIC, ModelServerError
from laya_rag.compose.prompt import Message
from laya_rag.compose.server import ModelServer
from laya_rag.compose.testing import ChatServer, Reply, ollama_stream, openai_event, openai_stream
from laya_rag.compose.wire import DeadlineError
from laya_rag.config import ComposeSettings, Settings
from laya_rag.engine import CancelToken
from laya_rag.errors import StoppedError
from laya_signals.errors import ConfigError

KEY = "sk-very-secret-0123456789"
MESSAGES: tuple[Message, ...] = ({"role": "user", "content": "naïve?"},)
PROVIDERS = pytest.mark.parametrize("provider", ["ollama", "openai"])


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "_PAUSE", 0.01)


@pytest.fixture(autouse=True)
def _no_thread_stays() -> Iterator[None]:
    yield
    until = time.monotonic() + 5
    while any(thread.name == "laya-compose" for thread in threading.enumerate()):
        assert time.monotonic() < until, "a connection was not closed"
        time.sleep(0.01)


def table(server: ChatServer, provider: str, **changes: Any) -> ComposeSettings:
    given = {f"compose.{key}": value for key, value in changes.items()}
    return Settings().updated({**server.settings(provider), **given}).compose


def pieces(
    server: ChatServer, provider: str, cancel: CancelToken | None = None, **changes: Any
) -> list[Piece]:
    asked = ModelServer(table(server, provider, **changes))
    return list(asked.pieces(MESSAGES, cancel or CancelToken()))


def text(found: list[Piece]) -> str:
    return "".join(piece.text for piece in found)


def error(server: ChatServer, provider: str, **changes: Any) -> ModelServerError:
    with pytest.raises(ModelServerError) as caught:
        pieces(server, provider, **changes)
    assert caught.value.public == PUBLIC[caught.value.code]
    return caught.value


def stream(provider: str, answer: str, **given: Any) -> list[bytes]:
    return (
        ollama_stream(answer, **given) if provider == "ollama" else openai_stream(answer, **given)
    )


@PROVIDERS
def test_an_answer_comes_in_pieces_with_the_word_for_its_end(
    server: ChatServer, provider: str
) -> None:
    server.text = "Die Mühle 🌊 [1]."
    found = pieces(server, provider)
    assert text(found) == "Die Mühle 🌊 [1]."
    assert len(found) > 3
    assert [piece.ended for piece in found] == [False] * (len(found) - 1) + [True]
    assert found[-1].finish == "stop"


def test_ollama_is_asked_by_its_own_route_with_thinking_off(server: ChatServer) -> None:
    pieces(server, "ollama", extra={"keep_alive": "1h", "options": {"top_k": 1}}, max_tokens=9)
    [(path, headers, body)] = server.requests
    assert path == "/api/chat"
    assert "authorization" not in headers
    assert body == {
        "model": "tide-7b",
        "messages": [{"role": "user", "content": "naïve?"}],
        "stream": True,
        "think": False,
        "truncate": False,
        "shift": False,
        "options": {"num_ctx": 8192, "num_predict": 9, "temperature": 0.0, "seed": 0, "top_k": 1},
        "keep_alive": "1h",
    }


def test_an_openai_server_is_asked_by_its_route(server: ChatServer) -> None:
    pieces(server, "openai", extra={"top_p": 1}, max_tokens=9, api_key=KEY)
    [(path, headers, body)] = server.requests
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["accept"] == "text/event-stream"
    assert body == {
        "model": "tide-7b",
        "messages": [{"role": "user", "content": "naïve?"}],
        "stream": True,
        "max_tokens": 9,
        "temperature": 0.0,
        "seed": 0,
        "top_p": 1,
    }


def test_what_is_null_is_left_to_the_server(server: ChatServer) -> None:
    given = {"temperature": None, "seed": None}
    pieces(server, "openai", **given, extra={"max_completion_tokens": 50})
    pieces(server, "ollama", **given)
    (_, _, openai), (_, _, ollama) = server.requests
    assert set(openai) == {"model", "messages", "stream", "max_completion_tokens"}
    assert set(ollama["options"]) == {"num_ctx", "num_predict"}


def test_thinking_beside_the_answer_is_not_read(server: ChatServer) -> None:
    think = {"message": {"role": "assistant", "content": "", "thinking": "hm"}, "done": False}
    deltas: list[dict[str, Any]] = [
        {"reasoning_content": "hm"},
        {"reasoning": "hm", "content": None},
    ]
    server.replies = [
        Reply([json.dumps(think).encode() + b"\n", *ollama_stream("Old.")]),
        Reply(
            [*(openai_event({"choices": [{"delta": d}]}) for d in deltas), *openai_stream("Old.")]
        ),
    ]
    assert text(pieces(server, "ollama")) == "Old."
    assert text(pieces(server, "openai")) == "Old."


@PROVIDERS
@pytest.mark.parametrize("size", [1, 2, 7])
def test_bytes_may_come_in_any_pieces(server: ChatServer, provider: str, size: int) -> None:
    whole = b"".join(stream(provider, "Die Mühle 🌊 [1]."))
    server.replies = [Reply([whole[at : at + size] for at in range(0, len(whole), size)])]
    assert text(pieces(server, provider)) == "Die Mühle 🌊 [1]."


def test_line_ends_and_signs_of_life_make_no_difference(server: ChatServer) -> None:
    steps = [b": keep-alive\r\n\r\n", *openai_stream("It is old.")]
    steps = [step.replace(b"\n\n", b"\r\n\r\n") for step in steps]
    usage = b'data: {"choices": [], "usage": {"total_tokens": 9}}\r\n\r\n'
    server.replies = [Reply([*steps[:2], b": ping\r\n\r\n", usage, *steps[2:]])]
    assert text(pieces(server, "openai")) == "It is old."


@PROVIDERS
@pytest.mark.parametrize("cut", [True, False])
def test_a_stream_that_is_cut_off_has_no_end(server: ChatServer, provider: str, cut: bool) -> None:
    steps = stream(provider, "It is old and", end=None)
    for tail in (b"", steps[-1][:9]):
        server.replies = [Reply([*steps, tail] if tail else steps, cut=cut)]
        found = pieces(server, provider)
        assert text(found) == "It is old and"
        assert not any(piece.ended for piece in found)
    assert len(server.requests) == 2


@PROVIDERS
def test_what_comes_behind_the_end_is_not_waited_for(server: ChatServer, provider: str) -> None:
    steps = [step for step in stream(provider, "Old.") if b"[DONE]" not in step]
    server.replies = [Reply([*steps, threading.Event()])]
    assert text(pieces(server, provider)) == "Old."
    assert server.left.wait(5)


@pytest.mark.parametrize(
    ("provider", "steps", "code"),
    [
        ("ollama", [b'{"message": {"content": "It"}}\n', b"{nope\n"], "bad_response"),
        ("ollama", [b'{"message": {"content": 3}}\n'], "bad_response"),
        ("ollama", [b'{"message": []}\n'], "bad_response"),
        ("ollama", [b'{"error": "llama runner process has terminated"}\n'], "model_error"),
        ("openai", [*openai_stream("It", end=None), b"data: {nope\n\n"], "bad_response"),
        ("openai", [b'data: {"choices": 3}\n\n'], "bad_response"),
        ("openai", [b'data: {"choices": [3]}\n\n'], "bad_response"),
        ("openai", [b'data: {"choices": [{"delta": {"content": []}}]}\n\n'], "bad_response"),
        (
            "openai",
            [*openai_stream("It", end=None), b'data: {"error": {"message": "cuda"}}\n\n'],
            0,
        ),
        ("openai", [*openai_stream("It", end=None), b'{"error": {"message": "cuda"}}\n'], 0),
        ("openai", [b'event: error\ndata: {"message": "cuda"}\n\n'], 0),
    ],
)
def test_a_broken_stream_is_an_error(
    server: ChatServer, provider: str, steps: list[bytes], code: str | int
) -> None:
    server.replies = [Reply(steps)]
    found = error(server, provider)
    assert found.code == (code or "model_error")
    assert code or "cuda" in str(found)
    assert len(server.requests) == 1  # what has begun is not tried again


@pytest.mark.parametrize("kind", ["application/json", "text/html; charset=utf-8"])
def test_an_answer_that_is_no_stream_is_refused(server: ChatServer, kind: str) -> None:
    headers = {"Content-Type": kind}
    server.replies = [Reply([b'{"error": {"message": "no streaming here"}}'], headers=headers)]
    found = error(server, "openai")
    assert found.code == "bad_response"
    assert "no streaming here" in str(found)
    assert kind.partition(";")[0] in str(found)


REFUSALS: list[tuple[str, int, Any, str, str]] = [
    ("ollama", 404, {"error": "model 'tide-7b' not found"}, "model_missing", "ollama pull tide-7b"),
    (
        "ollama",
        404,
        {"error": 'model "tide-7b" not found, try pulling it first'},
        "model_missing",
        "ollama pull tide-7b",
    ),
    (
        "openai",
        404,
        {"error": {"message": "The model `tide-7b` does not exist.", "code": "model_not_found"}},
        "model_missing",
        "/v1/models",
    ),
    (
        "openai",
        400,
        {"error": {"message": "tide-7b is not a valid model ID"}},
        "model_error",
        "not a valid",
    ),
    ("openai", 404, {"detail": "Not Found"}, "bad_response", "compose.url"),
    ("ollama", 404, "404 page not found", "bad_response", "/api/chat"),
    ("openai", 401, {"error": {"message": "Invalid key"}}, "model_unauthorized", "api_key_env"),
    ("openai", 403, {"error": "no"}, "model_unauthorized", "(403)"),
    (
        "ollama",
        400,
        {"error": "the input length exceeds the context length"},
        "evidence_too_long",
        "compose.context",
    ),
    (
        "openai",
        400,
        {"error": {"message": "This model's maximum context length is 4096 tokens."}},
        "evidence_too_long",
        "compose.evidence",
    ),
    (
        "ollama",
        500,
        {"error": "exceeds the available context size (512 tokens)"},
        "evidence_too_long",
        "512",
    ),
    ("openai", 422, {"detail": "seed: unknown"}, "model_error", "seed: unknown"),
    ("openai", 301, "", "bad_response", "(301)"),
    ("ollama", 307, "", "bad_response", "compose.url"),
]


@pytest.mark.parametrize(("provider", "status", "body", "code", "words"), REFUSALS)
def test_a_refusal_says_what_to_do_and_is_not_tried_again(
    server: ChatServer, provider: str, status: int, body: Any, code: str, words: str
) -> None:
    content = body if isinstance(body, str) else json.dumps(body)
    headers = {"Location": f"{server.url}/elsewhere"} if status < 400 else {}
    server.replies = [Reply([content.encode()], status=status, headers=headers)]
    found = error(server, provider)
    assert (found.code, found.status) == (code, status)
    assert words in str(found)
    assert server.url in str(found)
    assert "127.0.0.1" not in found.public
    assert len(server.requests) == 1


@PROVIDERS
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(server: ChatServer, provider: str, status: int) -> None:
    server.replies = [Reply([b"busy"], status=status), Reply([], status=status, cut=True)]
    assert text(pieces(server, provider)) == server.text
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "code"), [(429, "server_busy"), (503, "server_busy"), (500, "model_error")]
)
def test_it_is_given_up_on_in_the_end(server: ChatServer, status: int, code: str) -> None:
    server.replies = [Reply([b'{"error": "full"}'], status=status)] * 3
    found = error(server, "ollama", retries=1)
    assert (found.code, found.status) == (code, status)
    assert "2 tries" in str(found)
    assert "full" in str(found)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "wanted", ["0.05", format_datetime(datetime.now(UTC) - timedelta(days=1)), "soon"]
)
def test_the_server_says_when_to_come_back(server: ChatServer, wanted: str) -> None:
    server.replies = [Reply([], status=429, headers={"Retry-After": wanted})]
    assert text(pieces(server, "openai")) == server.text


@pytest.mark.parametrize(
    ("changes", "wanted", "code"),
    [({}, "3600", "server_busy"), ({"timeout": 1.0}, "20", "timed_out")],
)
def test_a_server_that_wants_too_long_is_given_up_on(
    server: ChatServer, changes: dict[str, Any], wanted: str, code: str
) -> None:
    server.replies = [Reply([], status=429, headers={"Retry-After": wanted})]
    assert error(server, "openai", **changes).code == code
    assert len(server.requests) == 1


@PROVIDERS
@pytest.mark.parametrize("begun", [True, False])
def test_a_silent_server_is_given_up_on(server: ChatServer, provider: str, begun: bool) -> None:
    steps = stream(provider, "It is", end=None) if begun else []
    server.replies = [Reply([*steps, threading.Event()])]
    found = error(server, provider, idle_timeout=0.2)
    assert found.code == "timed_out"
    assert "0.2 seconds" in str(found)
    assert server.left.wait(5)


def test_a_server_that_only_says_that_it_lives_is_given_up_on(server: ChatServer) -> None:
    server.replies = [Reply([b": ping\n\n", 0.05] * 1000)]
    with pytest.raises(DeadlineError):
        pieces(server, "openai", timeout=0.4, idle_timeout=0.3)
    assert server.left.wait(5)


def test_a_server_without_end_is_given_up_on(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire_module, "MAX_BYTES", 100_000)
    server.replies = [Reply(ollama_stream("so " * 2000))]
    assert error(server, "ollama").code == "too_large"


def test_a_long_error_is_cut_short(server: ChatServer) -> None:
    server.replies = [Reply([b"x" * 100_000] * 200, status=400)]
    assert len(str(error(server, "openai"))) < 500
    assert server.left.wait(5)


def test_nobody_there_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    settings = ComposeSettings(provider="ollama", model="m", url=f"http://127.0.0.1:{port}")
    with pytest.raises(ModelServerError) as caught:
        list(ModelServer(settings).pieces(MESSAGES, CancelToken()))
    assert caught.value.code == "unreachable"
    assert str(port) in str(caught.value)


@PROVIDERS
@pytest.mark.parametrize("where", ["before the head", "in a pause", "in the stream"])
def test_who_cancels_need_not_wait_for_the_server(
    server: ChatServer, provider: str, where: str
) -> None:
    cancel = CancelToken()
    silence = threading.Event()
    if where == "in a pause":
        server.replies = [Reply([], status=429, headers={"Retry-After": "20"})]
    elif where == "in the stream":
        server.replies = [Reply([*stream(provider, "It is", end=None), silence])]
    timer = threading.Timer(0.3, cancel.cancel)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        changes = {}
        if where == "before the head":
            changes = {"url": f"http://127.0.0.1:{deaf.getsockname()[1]}"}
        timer.start()
        with pytest.raises(StoppedError):
            pieces(server, provider, cancel, **changes)
    if where == "in the stream":
        assert server.left.wait(5)


@PROVIDERS
def test_whoever_stops_reading_closes_the_connection(server: ChatServer, provider: str) -> None:
    server.replies = [Reply([*stream(provider, "It is", end=None), threading.Event()])]
    found = ModelServer(table(server, provider)).pieces(MESSAGES, CancelToken())
    next(found)
    found.close()
    assert server.left.wait(5)


def test_whoever_stops_reading_a_flood_closes_the_connection(server: ChatServer) -> None:
    server.replies = [Reply(ollama_stream("so " * 20_000, end=None))]
    found = ModelServer(table(server, "ollama")).pieces(MESSAGES, CancelToken())
    next(found)
    found.close()
    assert server.left.wait(5)


def test_the_key_is_never_shown(server: ChatServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    settings = table(server, "openai", api_key=KEY)
    echo = json.dumps({"error": {"message": f"wrong key {KEY}"}}).encode()
    long = json.dumps({"error": "x" * 190 + KEY}).encode()
    event = openai_event({"error": {"message": f"wrong key {KEY}"}})
    server.replies = [
        Reply([echo], status=401),
        Reply([long], status=400),
        Reply([event]),
        Reply([echo], headers={"Content-Type": "application/json"}),
    ]
    for _ in range(4):
        found = error(server, "openai", api_key=KEY)
        assert KEY[:8] not in str(found)
        assert KEY[:8] not in repr(found.__cause__)
    pieces(server, "openai", api_key=KEY)
    assert KEY not in caplog.text
    assert KEY not in repr(settings)
    assert KEY not in settings.model_dump_json()


def test_the_key_may_stand_in_a_variable(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="TIDE_KEY"):
        pieces(server, "openai", api_key_env="TIDE_KEY")
    assert server.requests == []
    monkeypatch.setenv("TIDE_KEY", f"{KEY}\n")
    pieces(server, "openai", api_key_env="TIDE_KEY")
    assert server.requests[0][1]["authorization"] == f"Bearer {KEY}"


def test_no_proxy_stands_between_us_and_this_machine(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert text(pieces(server, "ollama")) == server.text


def test_ollama_that_dropped_a_part_of_the_prompt_is_found_out(server: ChatServer) -> None:
    for counts in ({"prompt_eval_count": 512}, {"prompt_eval_count": 500, "eval_count": 13}):
        server.replies = [Reply(ollama_stream("Old.", **counts))]
        assert error(server, "ollama", context=512).code == "evidence_too_long"
    server.replies = [Reply(ollama_stream("Old.", prompt_eval_count=500, eval_count=12))]
    assert text(pieces(server, "ollama", context=512)) == "Old."
