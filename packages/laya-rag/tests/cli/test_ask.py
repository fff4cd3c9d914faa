from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from laya_rag.cli.app import app
from typer.testing import CliRunner

runner = CliRunner()


def ask(*arguments: str) -> dict[str, Any]:
    done = runner.invoke(app, ["ask", *arguments, "--json"])
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_what_the_corpus_says_is_answered_with_its_passage(bundle: Path) -> None:
    found = ask("how often does the ferry cross to the island", "-b", str(bundle))
    assert found["verdict"]["state"] == "measured"
    assert 0 <= found["verdict"]["answerability"] <= 1
    assert found["evidence"][0]["document_id"] == "acme/two"
    assert found["evidence"][0]["relevance"] >= 0.5


def test_a_question_about_something_else_is_refused_without_a_number(bundle: Path) -> None:
    found = ask("who won the football world cup in 1998", "-b", str(bundle))
    assert found["verdict"]["state"] == "gate_not_reached"
    assert found["verdict"]["answerable"] is None
    assert found["verdict"]["answerability"] is None
    assert found["evidence"] == []
    assert [q["id"] for q in found["verdict"]["questions"]] == ["relevance"]


def test_the_screen_draws_no_zero_where_nothing_was_measured(bundle: Path) -> None:
    done = runner.invoke(app, ["ask", "who won the world cup in 1998", "-b", str(bundle)])
    assert done.exit_code == 0
    assert "No answer here" in done.stdout
    assert "0.00" not in done.stdout.partition("\n")[0]


def test_the_funnel_adds_up(bundle: Path) -> None:
    found = ask("tide mill", "-b", str(bundle), "--candidates", "3")
    funnel = found["funnel"]
    assert funnel["considered"] == funnel["scored"] == 3
    assert funnel["kept"] + funnel["below_relevance"] == 3
    assert len(found["dropped"]) == funnel["below_relevance"]


@pytest.mark.parametrize(("relevance", "kept"), [("0", 4), ("1", 0)])
def test_the_relevance_threshold_decides_what_is_kept(
    bundle: Path, relevance: str, kept: int
) -> None:
    found = ask("tide mill", "-b", str(bundle), "--relevance", relevance, "--keep", "9")
    assert len(found["evidence"]) == kept


def test_the_answerability_threshold_decides_the_verdict(bundle: Path) -> None:
    question = "how often does the ferry cross to the island"
    for threshold, answerable in (("0", True), ("1", False)):
        found = ask(question, "-b", str(bundle), "--answerability", threshold)
        assert found["verdict"]["answerable"] is answerable
        assert found["evidence"]


def test_quarantined_passages_never_reach_the_gate(bundle: Path) -> None:
    found = ask("tide mill", "-b", str(bundle), "--relevance", "0", "--keep", "9")
    seen = {item["record_id"] for item in (*found["evidence"], *found["dropped"])}
    assert seen
    assert "spam/x#chunk-0" not in seen


def test_a_tenant_s_question_is_asked_of_its_own_passages_only(tenant_bundle: Path) -> None:
    found = ask("tide", "-b", str(tenant_bundle), "--tenant", "globex", "--relevance", "0")
    seen = {item["record_id"] for item in (*found["evidence"], *found["dropped"])}
    assert seen == {"globex/one#chunk-0"}


def test_a_bundle_with_tenants_asks_for_one(tenant_bundle: Path) -> None:
    done = runner.invoke(app, ["ask", "tide", "-b", str(tenant_bundle)])
    assert done.exit_code == 1
    assert "--tenant" in done.stderr
