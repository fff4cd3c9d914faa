from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

pytestmark = pytest.mark.slow
LAYA = str(Path(sys.executable).parent / "laya")
PROVIDERS = Path(__file__).parent / "providers"
TOKEN = "stdio-test-token-0123456789"


def initialize(number: int = 1) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }


def call(number: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Server:
    """`laya mcp` as a process, spoken to line by line."""

    def __init__(self, *options: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [LAYA, "mcp", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
        )

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        assert self.process.stdin
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def line(self) -> dict[str, Any]:
        assert self.process.stdout
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def end(self) -> tuple[str, str]:
        """What was left on standard output and error when its input was closed."""
        out, err = self.process.communicate(timeout=60)
        return out.decode(), err.decode()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_sdks_client_talks_to_the_command(bundle: Path, mode: str) -> None:
    async def main() -> None:
        command = StdioServerParameters(command=LAYA, args=["mcp", "--bundle", str(bundle)])
        async with Client(stdio_client(command), mode=mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            assert "search_evidence" in tools
            assert "reset_index" not in tools
            found = await client.call_tool("search", {"query": "when does the ferry cross"})
            record = found.structured_content["hits"][0]["record_id"]
            assert record.startswith("acme/two")
            around = await client.call_tool("get_context", {"record_id": record})
            assert "ferry crosses" in around.content[0].text
            evidence = await client.call_tool(
                "search_evidence", {"query": "How often does the ferry cross to the island?"}
            )
            assert evidence.structured_content["probability"] is not None
            refused = await client.call_tool("search", {"query": "a", "everything": True})
            assert "unknown argument" in refused.content[0].text

    asyncio.run(asyncio.wait_for(main(), 120))


def test_nothing_but_the_protocol_is_on_standard_output(lexical_bundle: Path) -> None:
    options = [
        "--bundle",
        str(lexical_bundle),
        "--set",
        'gate.model={provider = "laya_rag_noisy:NoisyDecision"}',
    ]
    with Server(*options, PYTHONPATH=str(PROVIDERS)) as server:
        server.send(initialize(), INITIALIZED, call(2, "search_evidence", {"query": "tide mill"}))
        assert server.line()["id"] == 1
        answer = server.line()
        assert (answer["id"], answer["result"].get("isError", False)) == (2, False)
        out, err = server.end()
        assert out == ""
        for banner in (
            *("of a library", "past the redirection", "without a line's end"),
            *("of C code", "of a child"),
        ):
            assert f"BANNER {banner}" in err


def test_a_cancelled_call_and_broken_lines_do_not_end_it(lexical_bundle: Path) -> None:
    with Server("--bundle", str(lexical_bundle)) as server:
        server.send(initialize(), INITIALIZED)
        assert server.line()["id"] == 1
        server.send(
            *(b"", b"no json", b"{", b"[]", b'{"jsonrpc": "2.0"}', b"\xff\xfe", b"[" * 100_000),
            call(2, "search_evidence", {"query": "tide mill"}),
            {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": 2, "reason": "changed my mind"},
            },
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}},
            call(3, "search", {"query": "tide mill"}),
        )
        answers = []
        while not answers or answers[-1].get("id") != 3:
            answers.append(server.line())
        assert answers[-1]["result"]["structuredContent"]["found"] > 0
        out, _ = server.end()
        assert out == ""
        assert server.process.returncode == 0


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)]
)
def test_a_signal_ends_it_although_its_input_is_open(
    lexical_bundle: Path, number: int, code: int
) -> None:
    with Server("--bundle", str(lexical_bundle)) as server:
        server.send(initialize())
        assert server.line()["id"] == 1
        server.process.send_signal(number)
        assert server.process.wait(timeout=30) == code


def port_of(process: subprocess.Popen[bytes]) -> int:
    assert process.stderr
    line = process.stderr.readline().decode()
    assert "serving MCP at http://127.0.0.1:" in line, line
    return int(line.rpartition(":")[2].partition("/")[0])


def test_the_command_serves_http_and_a_second_one_passes_on_to_it(lexical_bundle: Path) -> None:
    with Server(
        "--bundle", str(lexical_bundle), "--http", "127.0.0.1:0", LAYA_MCP_TOKEN=TOKEN
    ) as service:
        url = f"http://127.0.0.1:{port_of(service.process)}/mcp"
        with Server("--connect", url, LAYA_MCP_TOKEN=TOKEN) as proxy:
            proxy.send(initialize(), INITIALIZED, call(2, "search", {"query": "tide mill"}))
            assert proxy.line()["id"] == 1
            assert proxy.line()["result"]["structuredContent"]["found"] > 0
            out, err = proxy.end()
            assert out == ""
            assert TOKEN not in err
            assert proxy.process.returncode == 0
        with Server("--connect", url, LAYA_MCP_TOKEN="another-token-0123456789") as stranger:
            out, err = stranger.end()
            assert (out, stranger.process.returncode) == ("", 1)
            assert "LAYA_MCP_TOKEN" in err
            assert "another-token" not in err
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(timeout=30) in (0, -signal.SIGTERM)
        assert service.process.stdout
        assert service.process.stdout.read() == b""
