from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from laya_rag.cli.app import app
from laya_rag.http.audit import verify
from typer.testing import CliRunner

RUNNER = CliRunner()
TOKENS = '[[token]]\nname = "a"\ntoken = "a-long-enough-token"\ntenants = "*"\n'


def said(*arguments: str, code: int, **environment: str) -> str:
    result = RUNNER.invoke(app, ["serve", *arguments], env=environment)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.stderr).split())


def test_without_a_bundle_it_says_which_command_makes_one(tmp_path: Path) -> None:
    assert "laya process" in said("--bundle", str(tmp_path / "none"), code=1)


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn", "prometheus_client"])
def test_without_its_libraries_it_names_the_extra(
    lexical_bundle: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert "laya-rag[serve]" in said("--bundle", str(lexical_bundle), code=1)


def test_a_bundle_of_tenants_wants_to_know_who_asks(tenant_bundle: Path) -> None:
    assert "--tenant" in said("--bundle", str(tenant_bundle), code=1)


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:8077"])
def test_beyond_this_machine_it_wants_tokens(lexical_bundle: Path, address: str) -> None:
    assert "--token-file" in said("--bundle", str(lexical_bundle), "--listen", address, code=1)


def test_an_empty_token_variable_is_no_reason_to_let_everybody_in(lexical_bundle: Path) -> None:
    assert "token" in said("--bundle", str(lexical_bundle), code=1, LAYA_SERVE_TOKEN="")


def test_options_that_do_not_go_together(lexical_bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "tokens.toml").write_text(TOKENS)
    bundle = ["--bundle", str(lexical_bundle)]
    tokens = ["--token-file", str(tmp_path / "tokens.toml")]
    assert "--allow-writes" in said(*bundle, "--root", str(tmp_path), code=1)
    assert "--allow-writes" in said(*bundle, "--audit", str(tmp_path / "log"), code=2)
    beyond = [*bundle, *tokens, "--listen", "0.0.0.0:0", "--allow-writes"]
    assert "--root" in said(*beyond, code=2)
    assert not (tmp_path / "log").exists()
    (tmp_path / "log").write_text("broken\n")
    local = [*bundle, "--listen", "127.0.0.1:0", "--allow-writes"]
    assert "line 1" in said(*local, "--audit", str(tmp_path / "log"), code=1)


def test_an_address_that_is_taken_is_named(lexical_bundle: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        assert where in said("--bundle", str(lexical_bundle), "--listen", where, code=1)


def test_no_option_takes_a_token() -> None:
    import typer.main

    command = typer.main.get_command(app).get_command(None, "serve")  # type: ignore[attr-defined,arg-type]
    options = {name for parameter in command.params for name in parameter.opts}
    assert not any("token" in name for name in options - {"--token-file"})


def test_the_command_line_does_not_load_the_server() -> None:
    script = (
        "import sys, laya_rag.cli.app; "
        "assert not {'fastapi', 'uvicorn', 'starlette', 'prometheus_client'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@contextmanager
def running(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`laya serve` in a process of its own, and its URL."""
    command = [str(Path(sys.executable).parent / "laya"), "serve", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(
        [*command, *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found, line + process.stderr.read()
        yield process, found[0]
    finally:
        process.kill()
        process.wait()


def ready(client: httpx2.Client) -> None:
    end = time.monotonic() + 60
    while client.get("/readyz").status_code != 200:
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)]
)
def test_it_serves_and_ends_in_good_order(bundle: Path, number: signal.Signals, code: int) -> None:
    with running("--bundle", str(bundle)) as (process, url):
        with httpx2.Client(base_url=url, timeout=60) as client:
            ready(client)
            answer = client.post("/v1/query", json={"query": "What drives the mill?"})
            assert answer.json()["verdict"]["state"] == "measured"
            assert "<html" in client.get("/").text
            # One request is under way: it is answered before the end.
            body = json.dumps({"query": "What drives the mill?"}).encode()
            with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as line:
                head = (
                    "POST /v1/query HTTP/1.1\r\nHost: localhost\r\n"
                    f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                )
                line.sendall(head.encode())
                time.sleep(0.2)
                process.send_signal(number)
                line.sendall(body)
                line.settimeout(20)
                assert b" 200 " in line.recv(100)
        assert process.wait(20) == code
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


@pytest.mark.slow
def test_it_writes_where_it_may_and_keeps_a_record(lexical_bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "one.txt").write_text("The tide mill.")
    (tmp_path / "stack.yaml").write_text(
        f"name: notes\nsource: {{provider: source.files, config: {{root: {tmp_path / 'notes'}}}}}\n"
        "signals: {bm25: {provider: tokenizer.word}}\n"
    )
    token = "environment-token-0123456789"
    options = ["--bundle", str(tmp_path / "bundle"), "--allow-writes"]
    options += ["--stack", str(tmp_path / "stack.yaml"), "--audit", str(tmp_path / "log")]
    with running(*options, LAYA_SERVE_TOKEN=token) as (process, url):
        with httpx2.Client(base_url=url, timeout=60) as client:
            assert client.post("/v1/index", json={}).status_code == 401
            client.headers["Authorization"] = f"Bearer {token}"
            assert client.post("/v1/index", json={}).json()["documents"] == 1
            shown = client.post("/v1/index", json={"folder": str(tmp_path / "notes")})
            assert shown.status_code == 422  # without a --root, no folder can be named
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        assert process.stderr is not None
        said_there = process.stderr.read()
        assert "0 lines, head 000" in said_there
        assert token not in said_there
    assert verify(tmp_path / "log").entries == 4
    assert token not in (tmp_path / "log").read_text()
