from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from laya_rag.config import Settings
from laya_rag.engine import Engine
from laya_rag.mcp import EngineSource, RateLimiter, RetrievalServer, Writing
from laya_rag.mcp.sdk import sdk_server
from laya_rag.serving.auth import bearer
from laya_rag.testing import HeldModel, MemoryCorpus, chunk
from laya_retrieval.testing import FakeBackend
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])


def drive(
    server: RetrievalServer, mode: str, steps: Callable[[Client], Awaitable[None]], **options: Any
) -> None:
    async def main() -> None:
        async with Client(sdk_server(server, **options), mode=mode) as client:
            await steps(client)

    asyncio.run(asyncio.wait_for(main(), 30))


@MODES
def test_a_client_gets_tools_with_schemas_and_hints(server: RetrievalServer, mode: str) -> None:
    async def steps(client: Client) -> None:
        assert "Search first" in (client.instructions or "")
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == [spec.name for spec in server.list_tools()]
        for tool in tools.values():
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            assert tool.annotations.open_world_hint is False
            assert tool.input_schema["additionalProperties"] is False
            assert tool.output_schema is not None

    drive(server, mode, steps)


@MODES
def test_a_result_is_text_and_data_that_fits_the_schema(
    server: RetrievalServer, mode: str, attack: str
) -> None:
    async def steps(client: Client) -> None:
        # The client itself checks the data against the schema.
        result = await client.call_tool("search_evidence", {"query": "buy a tide mill"})
        assert not result.is_error
        assert result.structured_content["answerable"] is True
        text = result.content[0].text
        assert text.startswith("answerable: true")
        assert text.index("<<<data-") < text.index(attack)

    drive(server, mode, steps)


@MODES
def test_our_errors_are_results_that_say_so(server: RetrievalServer, mode: str) -> None:
    async def steps(client: Client) -> None:
        for arguments, code in [
            ({"query": "a", "scope": "everything"}, "invalid_arguments"),
            ({"query": 3}, "invalid_arguments"),
            ({}, "invalid_arguments"),
        ]:
            result = await client.call_tool("search", arguments)
            assert result.is_error
            assert result.structured_content is None
            assert json.loads(result.content[0].text)["code"] == code
        result = await client.call_tool("read_document", {"document_id": "nowhere"})
        assert json.loads(result.content[0].text)["code"] == "not_found"
        result = await client.call_tool("check_index_integrity", {})
        assert json.loads(result.content[0].text) == {
            "code": "backend_error",
            "message": "StoreError",
        }

    drive(server, mode, steps)


@MODES
def test_an_unknown_tool_is_an_error_of_the_protocol(server: RetrievalServer, mode: str) -> None:
    async def steps(client: Client) -> None:
        for name in ("nope", "reset_index"):
            with pytest.raises(MCPError) as raised:
                await client.call_tool(name, {"confirm": "reset"})
            assert raised.value.code == -32602
            assert raised.value.data["code"] == "not_found"

    drive(server, mode, steps)


@MODES
def test_the_rate_limit_reaches_the_client_with_its_seconds(engine: Engine, mode: str) -> None:
    async def steps(client: Client) -> None:
        assert not (await client.call_tool("index_status", {})).is_error
        result = await client.call_tool("index_status", {})
        assert json.loads(result.content[0].text)["retry_after"] == 60

    drive(RetrievalServer(engine, rate=RateLimiter(1, 60, lambda: 0.0)), mode, steps)


@MODES
def test_documents_are_listed_page_by_page_and_read_as_resources(mode: str, attack: str) -> None:
    rows = [chunk(f"d{n:03}#chunk-0", f"tide {n}") for n in range(230)]
    rows.append(chunk("mail/a b?#chunk-0", attack))
    server = RetrievalServer(Engine(MemoryCorpus(rows)))

    async def steps(client: Client) -> None:
        pages = []
        cursor = None
        while True:
            page = await client.list_resources(cursor=cursor)
            pages.append([str(item.uri) for item in page.resources])
            cursor = page.next_cursor
            if cursor is None:
                break
        assert [len(page) for page in pages] == [102, 100, 31]
        uris = [uri for page in pages for uri in page]
        assert len(set(uris)) == len(uris) == 233
        for uri in uris[:3] + uris[-1:]:
            read = await client.read_resource(uri)
            assert read.contents[0].text
        assert "<<<data-" in read.contents[0].text
        assert attack in read.contents[0].text
        stats = json.loads((await client.read_resource("laya://stats")).contents[0].text)
        assert stats["documents"] == 231
        templates = await client.list_resource_templates()
        assert templates.resource_templates[0].uri_template == "laya://documents/{document_id}"
        for wrong, code in [("laya://documents/nowhere", -32002), ("laya://nope", -32002)]:
            with pytest.raises(MCPError) as raised:
                await client.read_resource(wrong)
            assert raised.value.code == code
        with pytest.raises(MCPError):
            await client.list_resources(cursor="nope")
        with pytest.raises(MCPError):
            await client.list_tools(cursor="nope")

    drive(server, mode, steps)


@MODES
def test_prompts_are_there_where_their_tools_are(server: RetrievalServer, mode: str) -> None:
    async def steps(client: Client) -> None:
        listed = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in listed] == ["answer_from_corpus", "audit_answer"]
        shown = await client.get_prompt("answer_from_corpus", {"question": "Why tides?"})
        assert "search_evidence" in shown.messages[0].content.text
        with pytest.raises(MCPError):
            await client.get_prompt("answer_from_corpus", {"other": "x"})
        with pytest.raises(MCPError):
            await client.get_prompt("nope", {})

    drive(server, mode, steps)

    async def plain(client: Client) -> None:
        assert client.server_capabilities.prompts is None
        assert client.server_capabilities.resources is None
        assert len((await client.list_tools()).tools) == 3

    drive(RetrievalServer(FakeBackend()), mode, plain)


@MODES
def test_a_cancelled_call_stops_its_work_and_the_server_survives(mode: str) -> None:
    model = HeldModel()
    rows = [chunk(f"d{n}#chunk-0", f"tide mill {n}") for n in range(8)]
    settings = Settings().updated({"gate.batch": 1})
    server = RetrievalServer(Engine(MemoryCorpus(rows), settings, model=model))

    async def steps(client: Client) -> None:
        with anyio.move_on_after(10) as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "search_evidence", {"query": "tide mill"})
                await asyncio.to_thread(model.began.wait, 10)
                group.cancel_scope.cancel()
        assert not scope.cancelled_caught
        await asyncio.sleep(0.2)  # until the server was told
        model.go.set()
        # One thread: this call runs when the other one has ended.
        assert not (await client.call_tool("index_status", {})).is_error
        assert model.count == 1  # of the nine that a full answer takes
        assert not (await client.call_tool("search_evidence", {"query": "tide mill"})).is_error
        assert model.count == 10

    drive(server, mode, steps, workers=1)


@MODES
def test_beyond_what_may_wait_a_call_is_told_to_come_back(mode: str) -> None:
    model = HeldModel()
    rows = [chunk("d#chunk-0", "tide mill")]
    server = RetrievalServer(Engine(MemoryCorpus(rows), model=model))

    async def steps(client: Client) -> None:
        first = asyncio.create_task(client.call_tool("search_evidence", {"query": "tide"}))
        await asyncio.to_thread(model.began.wait, 10)
        second = asyncio.create_task(client.call_tool("index_status", {}))
        await asyncio.sleep(0.2)
        third = await client.call_tool("index_status", {})
        assert json.loads(third.content[0].text)["code"] == "rate_limited"
        model.go.set()
        assert not (await first).is_error
        assert not (await second).is_error

    drive(server, mode, steps, workers=1, waiting=1)


@MODES
def test_indexing_tells_how_far_it_is(tmp_path: Path, mode: str) -> None:
    (tmp_path / "notes").mkdir()
    for number in range(40):
        (tmp_path / "notes" / f"{number}.txt").write_text(f"Note {number}.")
    (tmp_path / "stack.yaml").write_text(
        f"name: notes\nsource: {{provider: source.files, config: {{root: {tmp_path / 'notes'}}}}}\n"
        "signals: {bm25: {provider: tokenizer.word}}\n"
    )
    bundle = tmp_path / "bundle"
    server = RetrievalServer(
        EngineSource(Settings(bundle=str(bundle))),
        writing=Writing(bundle, tmp_path / "stack.yaml"),
    )
    told: list[tuple[float, float | None, str | None]] = []

    async def on_progress(done: float, total: float | None, what: str | None) -> None:
        told.append((done, total, what))

    async def steps(client: Client) -> None:
        result = await client.call_tool("index_documents", {}, progress_callback=on_progress)
        assert result.structured_content["documents"] == 40
        await asyncio.sleep(0.1)
        assert told
        assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
        assert not (await client.call_tool("search", {"query": "note 7"})).is_error

    drive(server, mode, steps)


def test_text_that_no_transport_can_send_is_sent_as_far_as_it_goes() -> None:
    server = RetrievalServer(Engine(MemoryCorpus([chunk("d#chunk-0", "tide \ud800 mill \x00")])))

    async def steps(client: Client) -> None:
        result = await client.call_tool("search", {"query": "tide"})
        assert not result.is_error
        json.dumps(result.structured_content).encode()
        result.content[0].text.encode()

    drive(server, "legacy", steps)


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer  abc ", "abc"),
        ("Basic abc", None),
        ("Bearer", None),
        ("Bearer ", None),
        ("", None),
        (None, None),
        ("abc", None),
    ],
)
def test_the_token_of_a_header(header: str | None, token: str | None) -> None:
    assert bearer(header) == token
