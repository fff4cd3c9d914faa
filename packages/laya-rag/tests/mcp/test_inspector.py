"""The MCP Inspector's command line, from npm: a client that is not the Python SDK's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
LAYA = str(Path(sys.executable).parent / "laya")


def inspect(bundle: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    npx = shutil.which("npx")
    assert npx, "this test needs npx: put Node.js 20 or newer on the PATH"
    done = subprocess.run(
        [npx, "--yes", INSPECTOR, "--cli", LAYA, "mcp", "--bundle", str(bundle), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.lstrip().startswith("{"), done.stderr
    return done.returncode, json.loads(done.stdout)


def test_the_inspector_lists_and_calls(lexical_bundle: Path) -> None:
    code, listed = inspect(lexical_bundle, "--method", "tools/list")
    assert code == 0
    tools = {tool["name"]: tool for tool in listed["tools"]}
    assert len(tools) == 13
    assert tools["search"]["annotations"]["readOnlyHint"] is True
    assert tools["search"]["outputSchema"]["type"] == "object"

    call = ("--method", "tools/call", "--tool-name", "search")
    code, found = inspect(lexical_bundle, *call, "--tool-arg", "query=tide mill", "limit=2")
    assert code == 0
    assert [hit["n"] for hit in found["structuredContent"]["hits"]] == [1, 2]
    assert "<<<data-" in found["content"][0]["text"]

    _, refused = inspect(lexical_bundle, *call, "--tool-arg", "query=tide", "scope=all")
    assert refused["isError"] is True
    assert json.loads(refused["content"][0]["text"])["code"] == "invalid_arguments"


def test_the_inspector_reads_resources_and_prompts(lexical_bundle: Path) -> None:
    _, listed = inspect(lexical_bundle, "--method", "resources/list")
    assert [item["uri"] for item in listed["resources"][:2]] == ["laya://stats", "laya://documents"]
    uri = listed["resources"][-1]["uri"]
    _, read = inspect(lexical_bundle, "--method", "resources/read", "--uri", uri)
    assert "<<<data-" in read["contents"][0]["text"]
    _, prompt = inspect(
        lexical_bundle,
        *("--method", "prompts/get", "--prompt-name", "answer_from_corpus"),
        *("--prompt-args", "question=When does the ferry cross?"),
    )
    assert "ferry cross" in prompt["messages"][0]["content"]["text"]
