from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from laya_rag.access import Access
from laya_rag.engine import Engine
from laya_rag.mcp import BearerAuth, Caller, RetrievalServer, ServerSetupError
from laya_rag.mcp.http import http_app
from laya_rag.mcp.proxy import Service, proxy_server
from laya_rag.serving.transport import transport_for
from laya_rag.serving.web import web_server
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

ACME, GLOBEX = "acme-token-0123456789", "globex-token-0123456789"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])


def auth() -> BearerAuth:
    return BearerAuth.of(
        {ACME: Caller("acme", Access(["acme"])), GLOBEX: Caller("globex", Access(["globex"]))}
    )


@asynccontextmanager
async def serving(
    core: RetrievalServer, address: str = "127.0.0.1:0", **options: Any
) -> AsyncIterator[str]:
    """The core behind a real socket; its URL."""
    listener = transport_for(address, 8078, tokens=core.auth is not None).bind()
    server = web_server(http_app(core, **options))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    name = listener.getsockname()
    try:
        yield f"http://127.0.0.1:{name[1]}" if isinstance(name, tuple) else f"unix:{name}"
    finally:
        server.should_exit = True
        await task
        listener.close()


@asynccontextmanager
async def connected(url: str, token: str | None, mode: str) -> AsyncIterator[Client]:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=20) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def run(steps: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(steps(), 40))


async def post(
    url: str, headers: dict[str, str | bytes] | None = None, body: Any = INITIALIZE
) -> httpx2.Response:
    content = body if isinstance(body, bytes) else json.dumps(body)
    async with httpx2.AsyncClient(timeout=20) as http:
        return await http.post(f"{url}/mcp", headers={**ACCEPT, **(headers or {})}, content=content)


@MODES
def test_a_client_works_over_http(server: RetrievalServer, mode: str) -> None:
    async def steps() -> None:
        async with serving(server) as url, connected(url, None, mode) as client:
            result = await client.call_tool("search", {"query": "tide mill"})
            assert result.structured_content["found"] == 14
            assert (await client.read_resource("laya://stats")).contents

    run(steps)


@MODES
def test_each_caller_sees_its_own(shared_engine: Engine, mode: str) -> None:
    core = RetrievalServer(shared_engine, auth=auth())

    async def steps() -> None:
        async with (
            serving(core) as url,
            connected(url, ACME, mode) as acme,
            connected(url, GLOBEX, mode) as globex,
        ):
            for client, own in ((acme, "a"), (globex, "g"), (acme, "a")):
                result = await client.call_tool("search", {"query": "tide"})
                assert [h["document_id"] for h in result.structured_content["hits"]] == [own]
                listed = await client.list_resources()
                assert str(listed.resources[-1].uri) == f"laya://documents/{own}"

    run(steps)


@pytest.mark.parametrize(
    "header",
    [
        None,
        "Bearer wrong-token-0123456789",
        "Bearer",
        f"Basic {ACME}",
        ACME,
        f"Bearer {ACME}x",
        "Bearer tökén-0123456789".encode(),
        b"Bearer \xff\xfe",
    ],
)
def test_without_a_good_token_nothing_is_answered(
    shared_engine: Engine, header: str | bytes | None
) -> None:
    core = RetrievalServer(shared_engine, auth=auth())
    headers: dict[str, str | bytes] = {} if header is None else {"Authorization": header}

    async def steps() -> None:
        async with serving(core) as url:
            for body in (
                INITIALIZE,
                b"no json",
                {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            ):
                answer = await post(url, headers, body)
                assert answer.status_code == 401
                assert answer.headers["WWW-Authenticate"].startswith("Bearer")
                assert answer.json()["error"]["code"] == "unauthorized"
            assert (await post(url, {"Authorization": f"Bearer {ACME}"})).status_code == 200

    run(steps)


def test_nobody_goes_on_with_the_session_of_another(shared_engine: Engine) -> None:
    core = RetrievalServer(shared_engine, auth=auth())

    async def steps() -> None:
        async with serving(core) as url:
            begun = await post(url, {"Authorization": f"Bearer {ACME}"})
            session = {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
            body = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
            for token, status in ((GLOBEX, 404), (ACME, 200)):
                answer = await post(url, {**session, "Authorization": f"Bearer {token}"}, body)
                assert answer.status_code == status

    run(steps)


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:8078"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "https://127.0.0.1.evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_a_page_of_another_site_gets_nothing(
    server: RetrievalServer, headers: dict[str, str | bytes], status: int, version: str
) -> None:
    async def steps() -> None:
        async with serving(server) as url:
            answer = await post(url, {**headers, "MCP-Protocol-Version": version})
            assert answer.status_code == status

    run(steps)


def test_hosts_and_origins_that_the_operator_named_are_let_in(server: RetrievalServer) -> None:
    async def steps() -> None:
        named = {"hosts": ["laya.example"], "origins": ["https://page.example"]}
        async with serving(server, **named) as url:
            for headers in (
                {"Host": "laya.example"},
                {"Origin": "https://page.example"},
                {"Origin": "http://localhost:3000"},
                {"Host": "localhost:9"},
                {},
            ):
                assert (await post(url, headers)).status_code == 200

    run(steps)


def test_a_body_has_a_limit(server: RetrievalServer) -> None:
    async def steps() -> None:
        async with serving(server, body_limit=5000) as url:
            assert (await post(url, body=b"x" * 5001)).status_code == 413
            assert (await post(url)).status_code == 200

    run(steps)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'"x"', b'{"jsonrpc": "2.0"}', b"\xff\xfe", b"[" * 4000]
)
def test_what_is_no_message_is_refused_and_the_server_survives(
    server: RetrievalServer, body: bytes
) -> None:
    async def steps() -> None:
        async with serving(server) as url:
            assert 400 <= (await post(url, body=body)).status_code < 500
            assert (await post(url)).status_code == 200

    run(steps)


def test_beyond_loopback_callers_need_tokens(server: RetrievalServer, engine: Engine) -> None:
    for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:80"):
        with pytest.raises(ServerSetupError, match="token"):
            transport_for(address, 8078, tokens=server.auth is not None)
    assert transport_for("0.0.0.0:0", 8078, tokens=True).port == 0


def test_whoever_watches_needs_no_token(shared_engine: Engine) -> None:
    async def steps() -> None:
        async with (
            serving(RetrievalServer(shared_engine, auth=auth())) as url,
            httpx2.AsyncClient() as http,
        ):
            assert (await http.get(f"{url}/healthz")).json() == {"status": "ok"}
            assert (await http.get(f"{url}/other")).status_code == 404

    run(steps)


def test_it_ends_while_a_client_is_connected(server: RetrievalServer) -> None:
    async def steps() -> None:
        async with httpx2.AsyncClient(timeout=20) as http:
            async with serving(server) as url:
                begun = await post(url)
                headers = {**ACCEPT, "Mcp-Session-Id": begun.headers["mcp-session-id"]}
                request = http.build_request("GET", f"{url}/mcp", headers=headers)
                stream = await http.send(request, stream=True)
                assert stream.status_code == 200
            await stream.aclose()
        with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
            probe.connect(("127.0.0.1", int(url.rpartition(":")[2])))

    run(steps)


@pytest.mark.parametrize("address", ["127.0.0.1:0", "unix"])
@MODES
def test_a_proxy_passes_everything_on(
    shared_engine: Engine, tmp_path: Path, address: str, mode: str
) -> None:
    core = RetrievalServer(shared_engine, auth=auth())
    where = f"unix:{tmp_path / 's'}" if address == "unix" else address

    async def steps() -> None:
        async with serving(core, where) as url:
            target = url if url.startswith("unix:") else f"{url}/mcp"
            async with (
                Service(target, ACME).client() as remote,
                Client(proxy_server(remote), mode=mode) as client,
            ):
                assert client.instructions == core.copy.instructions
                tools = (await client.list_tools()).tools
                assert [tool.name for tool in tools] == [spec.name for spec in core.list_tools()]
                found = await client.call_tool("search", {"query": "tide"})
                assert [h["document_id"] for h in found.structured_content["hits"]] == ["a"]
                refused = await client.call_tool("search", {"query": "tide", "x": 1})
                assert json.loads(refused.content[0].text)["code"] == "invalid_arguments"
                with pytest.raises(Exception, match="no such tool"):
                    await client.call_tool("nope", {})
                assert len((await client.list_resources()).resources) == 3
                assert (await client.list_resource_templates()).resource_templates
                assert (await client.read_resource("laya://stats")).contents
                assert len((await client.list_prompts()).prompts) == 2
                assert (await client.get_prompt("audit_answer", {"answer": "x"})).messages

    run(steps)


@pytest.mark.parametrize(
    "url",
    [
        *("http://192.0.2.1/mcp", "http://0.0.0.0:80/mcp", "ftp://127.0.0.1/", "127.0.0.1:8078"),
        *("http://ann:secret@127.0.0.1/mcp", "http://127.0.0.1:x/mcp", "http:///mcp"),
    ],
)
def test_a_proxy_shows_its_token_to_this_machine_or_over_tls_only(url: str) -> None:
    with pytest.raises(ServerSetupError) as raised:
        Service(url, ACME)
    assert "secret" not in str(raised.value)
    assert Service("https://laya.example/mcp").url


def test_a_proxy_without_a_service_says_how_to_start_one(shared_engine: Engine) -> None:
    async def nobody() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        async with Service(f"http://127.0.0.1:{port}/mcp").client():
            pass

    async def stranger() -> None:
        async with (
            serving(RetrievalServer(shared_engine, auth=auth())) as url,
            Service(f"{url}/mcp", "wrong-token-0123456789").client(),
        ):
            pass

    for steps in (nobody, stranger):
        with pytest.raises(ServerSetupError, match="laya mcp --http"):
            run(steps)
