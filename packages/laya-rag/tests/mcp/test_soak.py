from __future__ import annotations

import asyncio
import gc
import json
import random
import resource
import sys
import threading
from collections import Counter
from typing import Any

import anyio
import httpx2
import pytest
from laya_rag.config import Settings
from laya_rag.engine import Engine
from laya_rag.mcp import RetrievalServer
from laya_rag.mcp.http import http_app
from laya_rag.serving.transport import transport_for
from laya_rag.serving.web import web_server
from laya_rag.testing import MemoryCorpus, chunk
from laya_retrieval.testing import FakeDecisionModel
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

pytestmark = pytest.mark.slow
CLIENTS, CALLS = 20, 5000
WORDS = ["tide", "mill", "ferry", "barley", "dyke", "zebra"]
BROKEN = [b"", b"{", b"[]", b"null", b'{"jsonrpc": "2.0"}', b"\xff\xfe", b"[" * 2000, b"x" * 70_000]
JSON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


ROWS = [
    chunk(f"{WORDS[n % 5]}/{n}#chunk-{k}", f"The {WORDS[n % 5]} is {WORDS[(n + k) % 5]}, {k}.")
    for n in range(10)
    for k in range(2)
]


def some_call(dice: random.Random) -> tuple[str, dict[str, Any]]:
    query = " ".join(dice.choices(WORDS, k=3))
    return dice.choice(
        [
            ("search", {"query": query}),
            ("search_evidence", {"query": query}),
            ("extract_answer", {"query": query}),
            ("verify_answer", {"answer": "It is [1], 7 [9].", "query": query}),
            ("adjudicate_answer", {"answer": "The tide is mill. The ferry is dyke."}),
            ("get_context", {"record_id": f"tide/{5 * dice.randrange(2)}#chunk-1"}),
            ("list_documents", {"limit": 5}),
            ("read_document", {"document_id": "nowhere"}),
            ("corpus_stats", {}),
            ("search", {"query": query, "unknown": 1}),
            ("nope", {}),
        ]
    )


async def one_client(url: str, mode: str, calls: int, seed: int, seen: Counter[str]) -> None:
    dice = random.Random(seed)
    async with httpx2.AsyncClient(timeout=60) as raw, Client(f"{url}/mcp", mode=mode) as client:
        for _ in range(calls):
            tool, arguments = some_call(dice)
            kind = dice.random()
            if kind < 0.1:
                answer = await raw.post(f"{url}/mcp", headers=JSON, content=dice.choice(BROKEN))
                assert 400 <= answer.status_code < 500
                seen["broken"] += 1
                continue
            patience = dice.uniform(0, 0.02) if kind < 0.3 else 60
            with anyio.move_on_after(patience) as scope:
                try:
                    result = await client.call_tool(tool, arguments)
                    seen["error" if result.is_error else "result"] += 1
                except MCPError:
                    seen["refused" if tool == "nope" else "failed"] += 1
            seen["cancelled"] += scope.cancelled_caught


def test_many_clients_that_misbehave_leave_nothing_behind() -> None:
    async def main() -> Counter[str]:
        corpus, model = MemoryCorpus(ROWS), FakeDecisionModel()
        settings = Settings().updated({"cache.vectors": 0})
        served = RetrievalServer(Engine(corpus, settings, model=model))
        listener = transport_for("127.0.0.1:0", 8078, tokens=served.auth is not None).bind()
        app = http_app(served, body_limit=64_000)
        server = web_server(app)
        running = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        seen: Counter[str] = Counter()

        async def round_of(calls: int, seed: int) -> None:
            each = calls // CLIENTS
            async with anyio.create_task_group() as group:
                for number in range(CLIENTS):
                    mode = ("legacy", "auto")[number % 2]
                    group.start_soon(one_client, url, mode, each, seed + number, seen)

        async def at_rest() -> tuple[int, int, int]:
            """Tasks, threads and objects once everybody has gone."""
            for _ in range(200):
                await asyncio.sleep(0.05)
                if not app.state.manager._server_instances and len(asyncio.all_tasks()) <= 8:
                    break
            # The doubles write down everything that they are asked.
            for written in (corpus.searches, corpus.encoded, model.calls):
                written.clear()
            gc.collect()
            return len(asyncio.all_tasks()), threading.active_count(), len(gc.get_objects())

        await round_of(400, 1000)  # fills caches, connection pools, worker threads
        seen.clear()
        await round_of(CALLS // 2, 2000)
        tasks, threads, objects = await at_rest()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        await round_of(CALLS // 2, 3000)
        tasks_after, threads_after, objects_after = await at_rest()
        peak_after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        figures = {
            "tasks": [tasks, tasks_after],
            "threads": [threads, threads_after],
            "objects": [objects, objects_after],
            "peak MB": [peak // 1000, peak_after // 1000],
            "sessions": len(app.state.manager._server_instances),
            **seen,
        }
        print(json.dumps(figures), file=sys.stderr)
        assert tasks_after <= tasks
        assert threads_after <= threads
        assert not app.state.manager._server_instances
        # A session or a request that stays would be dozens of objects for each of 2,500 calls.
        assert objects_after - objects < 2 * CALLS, figures
        assert peak_after - peak < 30_000, figures  # kilobytes
        async with Client(f"{url}/mcp") as client:
            assert not (await client.call_tool("search", {"query": "tide"})).is_error
        server.should_exit = True
        await running
        return seen

    seen = asyncio.run(asyncio.wait_for(main(), 900))
    assert (
        sum(seen[kind] for kind in ("broken", "result", "error", "refused", "cancelled")) >= CALLS
    )
    assert not seen["failed"]
    assert seen["cancelled"] > 100
    assert seen["broken"] > 300
