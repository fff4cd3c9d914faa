from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from laya_rag.cli.app import app
from typer.testing import CliRunner

runner = CliRunner()
ANSWER = 'It runs "four times a day" [1]. It carries 12 people [1].'


def verify(*arguments: str, answer: str = ANSWER) -> dict[str, Any]:
    done = runner.invoke(app, ["verify", "-", *arguments, "--json"], input=answer)
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_evidence_is_that_of_ask(bundle: Path, tmp_path: Path) -> None:
    asked = runner.invoke(
        app, ["ask", "how often does the ferry cross", "-b", str(bundle), "--json"]
    )
    found = tmp_path / "found.json"
    found.write_text(asked.stdout)
    report = verify("--evidence", str(found))
    assert report["passages"] == [{"passage": 1, "record_id": "acme/two#chunk-0"}]
    counts = report["counts"]
    assert (counts["quotes_found"], counts["numbers_missing"]) == (1, 1)
    assert report["claims"][0]["quotes"][0]["places"][0]["record_id"] == "acme/two#chunk-0"
    by_query = verify("--query", "how often does the ferry cross", "-b", str(bundle))
    assert by_query["claims"] == report["claims"]
    assert by_query["verdict"]["state"] == "measured"
    by_record = verify("--record", "acme/two#chunk-0", "-b", str(bundle))
    assert by_record["claims"] == report["claims"]


def test_a_list_of_texts_needs_no_bundle(tmp_path: Path) -> None:
    found = tmp_path / "texts.json"
    found.write_text(json.dumps(["Four times a day.", {"text": "12 people", "record_id": "r"}]))
    report = verify("--evidence", str(found))
    assert [item["record_id"] for item in report["passages"]] == [None, "r"]
    assert report["bundle"] is None
    assert report["counts"]["numbers_elsewhere"] == 1


def test_the_screen_names_what_is_wrong(bundle: Path) -> None:
    done = runner.invoke(
        app,
        ["verify", "-", "--record", "acme/two#chunk-0", "-b", str(bundle), "--exit-code"],
        input="It carries 12 people [2]. It is old.",
        env={"COLUMNS": "200"},
    )
    assert done.exit_code == 3
    assert "number 12: missing" in done.stdout
    assert "citation [2] names no passage: 2" in done.stdout
    assert "no citation" in done.stdout
    assert "does not establish" in " ".join(done.stdout.split())


def test_what_agrees_exits_with_zero(bundle: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.md"
    answer.write_text('It runs "four times a day" [1].')
    done = runner.invoke(
        app,
        ["verify", str(answer), "--record", "acme/two#chunk-0", "-b", str(bundle), "--exit-code"],
    )
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-"], "--evidence, --record or --query"),
        (["-", "--query", "q", "--record", "r"], "--evidence, --record or --query"),
        (["-", "--evidence", "-"], "not both"),
        (["missing.md", "--query", "q"], "missing.md"),
        (["-", "--evidence", "missing.json"], "missing.json"),
    ],
)
def test_wrong_usage_is_explained(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = runner.invoke(app, ["verify", *arguments], input=ANSWER, env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert message in done.stderr


@pytest.mark.parametrize("text", ["{", "{}", "3", '[{"record_id": "r"}]', "[3]"])
def test_evidence_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    found.write_text(text)
    done = runner.invoke(app, ["verify", "-", "--evidence", str(found)], input=ANSWER)
    assert done.exit_code == 2
    assert "--evidence" in done.stderr


def test_a_record_of_another_tenant_does_not_exist(tenant_bundle: Path) -> None:
    arguments = ["verify", "-", "-b", str(tenant_bundle), "--tenant", "acme", "--record"]
    errors = []
    for record in ("globex/one#chunk-0", "absent/one#chunk-0"):
        done = runner.invoke(app, [*arguments, record], input=ANSWER)
        assert done.exit_code == 1
        errors.append(done.stderr.replace(record, "R"))
    assert errors[0] == errors[1]
