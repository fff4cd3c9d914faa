from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from laya_rag.access import Access
from laya_rag.config import Settings
from laya_rag.engine import Engine
from laya_rag.http.app import http_app
from laya_rag.serving.auth import BearerAuth, Caller
from laya_rag.serving.transport import transport_for
from laya_rag.serving.web import web_server
from laya_rag.testing import MemoryCorpus, chunk
from laya_retrieval.testing import FakeDecisionModel

ALL, ACME, READER = "all-token-0123456789", "acme-token-0123456789", "reader-token-0123456789"
ROWS = [
    *(
        chunk(f"mill/{n}#chunk-{k}", f"The tide mill {n} grinds barley, part {k}.", start=k * 50)
        for n in range(4)
        for k in range(3)
    ),
    chunk("readme#chunk-0", "Dull words about nothing."),
]
SHARED = [
    chunk("acme/one#chunk-0", "The tide is high.", tenants=["acme"]),
    chunk("acme/two#chunk-0", "The mill is old.", tenants=["acme"]),
    chunk("globex/one#chunk-0", "The tide mill is low and secret.", tenants=["globex"]),
    chunk("both/one#chunk-0", "The tide of both.", tenants=["acme", "globex"]),
]


@dataclass
class Served:
    """An application behind a real socket."""

    app: FastAPI
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, token: str | None = None, **options: Any) -> httpx2.Client:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=20, **options)


Serve = Callable[..., Served]


@pytest.fixture(scope="session")
def site() -> Iterator[Served]:
    """The plain rows behind one socket, for requests that leave nothing behind."""
    with _serving() as start:
        yield start()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serves a corpus, by default the engine of plain rows, with the options of `http_app`."""
    with _serving() as start:
        yield start


@contextmanager
def _serving() -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(corpus: Any = None, **options: Any) -> Served:
            app = http_app(plain() if corpus is None else corpus, **options)
            listener = transport_for("127.0.0.1:0", 0, tokens=True).bind()
            server = web_server(app)
            started = threading.Event()

            async def run() -> None:
                task = asyncio.ensure_future(server.serve(sockets=[listener]))
                while not server.started and not task.done():
                    await asyncio.sleep(0.01)
                started.set()
                await task

            thread = threading.Thread(target=lambda: asyncio.run(run()))
            thread.start()

            def stop() -> None:
                server.should_exit = True
                thread.join()
                listener.close()

            stack.callback(stop)
            assert started.wait(20)
            return Served(app, listener.getsockname()[1])

        yield start


def plain() -> Engine:
    return Engine(MemoryCorpus(ROWS), Settings(), model=FakeDecisionModel())


@pytest.fixture
def shared() -> Engine:
    """A corpus of two tenants."""
    return Engine(MemoryCorpus(SHARED), Settings(), model=FakeDecisionModel())


@pytest.fixture
def auth() -> BearerAuth:
    """Somebody who may do everything, one of acme, and one who reads everything."""
    everything = Access(all_tenants=True)
    return BearerAuth.of(
        {
            ALL: Caller("all", everything, frozenset({"read", "write"})),
            ACME: Caller("acme", Access(["acme"])),
            READER: Caller("reader", everything),
        }
    )
