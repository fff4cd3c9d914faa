from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from laya_rag.cli.app import app
from laya_rag.cli.compose import REASONS
from laya_rag.compose.testing import ChatServer, Reply, ollama_stream
from typer.testing import CliRunner

runner = CliRunner()
QUESTION = "how often does the ferry cross to the island"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer("The ferry crosses four times a day [1]. It carries 12 people [3].") as running:
        yield running


def arguments(bundle: Path, server: ChatServer, *more: str, answering: bool = True) -> list[str]:
    # The threshold decides, not what the model in this package happens to say.
    threshold = "0" if answering else "1"
    options = ["--provider", "ollama", "--model", "tide-7b", "--url", server.url]
    return [
        *("compose", QUESTION, "-b", str(bundle), "--relevance", "0", "--keep", "2"),
        *("--answerability", threshold, *options, *more),
    ]


def run(bundle: Path, server: ChatServer, *more: str, answering: bool = True) -> Result:
    given = arguments(bundle, server, *more, answering=answering)
    return runner.invoke(app, given, env={"COLUMNS": "200"})


def as_json(bundle: Path, server: ChatServer, *more: str, answering: bool = True) -> dict[str, Any]:
    done = run(bundle, server, "--json", *more, answering=answering)
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_draft_stands_under_its_badge_and_before_its_checks(
    bundle: Path, server: ChatServer
) -> None:
    done = run(bundle, server)
    assert done.exit_code == 0, done.stderr
    places = [
        done.stdout.index(part)
        for part in (
            "UNVERIFIED DRAFT",
            server.text,
            "Against the passages",
            "citation [3] names no passage: 3",
            "Evidence",
            "[1] acme/two",
            "nobody has read it",
        )
    ]
    assert places == sorted(places)
    assert "Against the corpus" not in done.stdout


def test_the_corpus_is_asked_on_demand(bundle: Path, server: ChatServer) -> None:
    assert "Against the corpus" in run(bundle, server, "--adjudicate").stdout


def test_the_json_is_one_document_with_the_evidence(bundle: Path, server: ChatServer) -> None:
    found = as_json(bundle, server, "--adjudicate")
    assert (found["state"], found["text"], found["unverified"]) == ("composed", server.text, True)
    assert found["bundle"]["path"] == str(bundle)
    assert len(found["evidence"]) == found["shown"] == 2
    assert found["verification"]["counts"]["claims_out_of_range"] == 1
    assert len(found["adjudication"]["claims"]) == 2
    assert found["verdict"]["answerable"] is True
    assert {"open", "ask", "search", "compose", "verify", "adjudicate", "total"} <= set(
        found["seconds"]
    )
    assert (found["provider"], found["model"], found["finish"]) == ("ollama", "tide-7b", "stop")


def test_where_the_evidence_does_not_answer_no_model_is_asked(
    bundle: Path, server: ChatServer
) -> None:
    done = run(bundle, server, answering=False)
    assert done.exit_code == 0
    assert "Nothing composed" in done.stdout
    assert "UNVERIFIED DRAFT" not in done.stdout
    assert as_json(bundle, server, answering=False)["reason"] == "not_answerable"
    assert server.requests == []
    assert as_json(bundle, server, "--force", answering=False)["state"] == "composed"


@pytest.mark.parametrize(
    ("answering", "end", "code"), [(True, "stop", 0), (True, "length", 3), (False, "stop", 3)]
)
def test_an_abstention_or_half_an_answer_is_an_exit_code_on_demand(
    bundle: Path, server: ChatServer, answering: bool, end: str, code: int
) -> None:
    server.replies = [Reply(ollama_stream("It crosses", end=end))]
    assert run(bundle, server, "--exit-code", answering=answering).exit_code == code


def test_half_an_answer_is_called_that(bundle: Path, server: ChatServer) -> None:
    server.replies = [Reply(ollama_stream("It crosses", end=None), cut=True)]
    done = run(bundle, server)
    assert done.exit_code == 0
    assert "Cut short" in done.stdout
    assert "not whole" in done.stdout


@pytest.mark.parametrize("as_json", [True, False])
def test_a_model_that_fails_part_way_is_an_error(
    bundle: Path, server: ChatServer, as_json: bool
) -> None:
    steps = [*ollama_stream("It crosses", end=None), b'{"error": "out of memory"}\n']
    server.replies = [Reply(steps)]
    done = run(bundle, server, *(["--json"] if as_json else []))
    assert done.exit_code == 1
    assert "out of memory" in done.stderr
    assert done.stdout == "" if as_json else done.stdout.endswith("It crosses\n")


def test_a_missing_model_is_named_with_what_to_do(bundle: Path, server: ChatServer) -> None:
    server.replies = [Reply([b'{"error": "model \'tide-7b\' not found"}'], status=404)]
    done = run(bundle, server)
    assert done.exit_code == 1
    assert "ollama pull tide-7b" in done.stderr


def test_composition_is_off_until_it_is_switched_on(bundle: Path) -> None:
    done = runner.invoke(app, ["compose", QUESTION, "-b", str(bundle)])
    assert done.exit_code == 1
    assert "compose.provider" in done.stderr
    assert done.stdout == ""
    done = runner.invoke(app, ["compose", QUESTION, "-b", str(bundle), "--provider", "ollama"])
    assert done.exit_code == 1
    assert "--provider: compose: provider ollama needs compose.model" in done.stderr


def test_a_budget_packs_what_the_model_is_shown(bundle: Path, server: ChatServer) -> None:
    found = as_json(bundle, server, "--budget", "12")
    assert found["packed"]["tokens"] <= 12
    assert found["shown"] == len(found["evidence"]) == 1


def test_a_terminal_is_not_moved_by_what_the_model_writes(bundle: Path, server: ChatServer) -> None:
    server.text = "Four \x1b[2Jtimes [1]."
    assert "\x1b[2J" not in run(bundle, server).stdout


def test_every_reason_has_its_words() -> None:
    from laya_rag.compose.chat import truncation

    assert {truncation(word) for word in ("length", "content_filter", None)} <= REASONS.keys()


@pytest.mark.slow
def test_ctrl_c_ends_it_cleanly(bundle: Path, server: ChatServer) -> None:
    server.replies = [Reply([*ollama_stream("It crosses", end=None), threading.Event()])]
    command = Path(sys.executable).parent / "laya"
    running = subprocess.Popen(
        [command, *arguments(bundle, server)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert running.stdout is not None
    assert running.stderr is not None
    assert "UNVERIFIED DRAFT" in running.stdout.readline()
    assert running.stdout.read(10) == "It crosses"
    running.send_signal(signal.SIGINT)
    assert running.wait(20) == 130
    assert running.stdout.read() == "\n"
    assert running.stderr.read() == "laya: interrupted\n"
    assert server.left.wait(5)
