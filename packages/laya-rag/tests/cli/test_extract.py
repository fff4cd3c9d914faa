from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from laya_rag.cli.app import app
from typer.testing import CliRunner

runner = CliRunner()
FERRY = "how often does the ferry cross to the island"


def extract(*arguments: str) -> dict[str, Any]:
    done = runner.invoke(app, ["extract", *arguments, "--json"])
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_answer_is_a_sentence_of_the_bundle(bundle: Path) -> None:
    found = extract(FERRY, "-b", str(bundle))
    assert found["text"] == "The ferry crosses to the island four times a day. [1]"
    [sentence] = found["sentences"]
    assert sentence["record_id"] == found["evidence"][0]["record_id"] == "acme/two#chunk-0"
    assert (sentence["document_start"], sentence["document_end"]) == (0, 49)
    assert found["abstention"] is None


def test_the_screen_shows_it_with_its_place(bundle: Path) -> None:
    done = runner.invoke(app, ["extract", FERRY, "-b", str(bundle)], env={"COLUMNS": "200"})
    assert "four times a day. [1]" in done.stdout
    assert "[1] acme/two › Ferry  characters 0–49" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["who won the football world cup in 1998"], "no_passages"),
        ([FERRY, "--answerability", "1"], "not_answerable"),
        (["zebra stripes", "--no-gate"], "nothing_qualifies"),
    ],
)
def test_it_abstains_and_says_why(bundle: Path, arguments: list[str], reason: str) -> None:
    found = extract(*arguments, "-b", str(bundle))
    assert (found["abstention"], found["text"], found["sentences"]) == (reason, "", [])
    done = runner.invoke(app, ["extract", *arguments, "-b", str(bundle), "--exit-code"])
    assert done.exit_code == 3
    assert "Nothing extracted" in done.stdout


def test_the_number_of_sentences_is_a_limit(bundle: Path) -> None:
    arguments = ["tide", "-b", str(bundle), "--no-gate"]
    assert len(extract(*arguments)["sentences"]) == 3
    assert len(extract(*arguments, "--sentences", "1")["sentences"]) == 1


def test_a_tenant_gets_its_own_sentences(tenant_bundle: Path) -> None:
    found = extract("tide", "-b", str(tenant_bundle), "--no-gate", "--tenant", "globex")
    assert {sentence["record_id"] for sentence in found["sentences"]} == {"globex/one#chunk-0"}
