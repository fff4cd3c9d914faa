from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from laya_rag.config import Settings
from laya_rag.engine import Engine
from laya_rag.http.readiness import Readiness
from laya_rag.serving.source import EngineSource
from laya_rag.testing import HeldModel, MemoryCorpus, chunk

Serve = Callable[..., Any]


def until(state: Callable[[], str], wanted: str) -> None:
    end = time.monotonic() + 20
    while state() != wanted:
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


def test_it_is_ready_once_the_model_has_answered(serve: Serve) -> None:
    model = HeldModel()
    engine = Engine(MemoryCorpus([chunk("a", "The tide.")]), Settings(), model=model)
    with serve(engine).client() as client:
        assert model.began.wait(20)
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()["code"]) == (503, "not_ready")
        assert "loaded" in answer.json()["detail"]
        assert answer.headers["Retry-After"] == "2"
        assert client.get("/healthz").json() == {"status": "ok"}
        model.go.set()
        until(lambda: str(client.get("/readyz").status_code), "200")
        assert client.get("/readyz").json() == {"status": "ready"}


class Failing(EngineSource):
    """Fails as often as it is told to."""

    def __init__(self, times: int) -> None:
        engine = Engine(
            MemoryCorpus([chunk("a", "x")]), Settings().updated({"gate.enabled": False})
        )
        super().__init__(engine.settings, engine=engine)
        self.left = times
        self.asked = 0

    def engine(self) -> Engine:
        self.asked += 1
        if self.left:
            self.left -= 1
            raise RuntimeError("/srv/secret")
        return super().engine()


def test_what_fails_is_tried_again_after_a_pause() -> None:
    now = [0.0]
    source = Failing(2)
    readiness = Readiness(source, lambda: now[0])
    assert readiness.state() == "starting"
    until(readiness.state, "failed")
    for _ in range(5):
        assert readiness.state() == "failed"
    assert source.asked == 1
    now[0] = 5.1
    assert readiness.state() == "failed"
    until(lambda: str(source.asked), "2")
    time.sleep(0.05)
    now[0] = 10.3
    until(readiness.state, "ready")
    assert source.asked == 3
    readiness.close()


def test_why_it_failed_is_the_operator_s_to_know(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    with serve(Failing(100)).client() as client:
        until(lambda: str("log" in client.get("/readyz").text), "True")
        answer = client.get("/readyz")
        assert answer.status_code == 503
        assert "secret" not in answer.text
    assert "/srv/secret" in caplog.text


def test_without_an_index_nothing_is_loaded(tmp_path: Path) -> None:
    readiness = Readiness(EngineSource(Settings(bundle=str(tmp_path / "none"))))
    assert readiness.state() == "no_index"
    readiness.reload()
    assert readiness.state() == "no_index"
    assert not [thread for thread in threading.enumerate() if thread.name == "laya-warm"]
