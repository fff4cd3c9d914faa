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
    assert funnel["retrieved"] == funnel["considered"] == 4
    assert (funnel["dropped_before_scoring"], funnel["scored"]) == (1, 3)
    assert funnel["kept"] + funnel["below_relevance"] == 3
    assert funnel["evidence"] == len(found["evidence"]) == funnel["kept"]
    assert len(found["dropped"]) == funnel["below_relevance"] + 1
    assert [item["relevance"] for item in found["dropped"]].count(None) == 1


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


def test_with_the_gate_off_nothing_is_measured(bundle: Path) -> None:
    found = ask("tide mill", "-b", str(bundle), "--no-gate", "--keep", "2")
    assert found["verdict"]["state"] == "not_measured"
    assert found["verdict"]["model"] is None
    assert [item["relevance"] for item in found["evidence"]] == [None, None]
    done = runner.invoke(app, ["ask", "tide mill", "-b", str(bundle), "--no-gate"])
    assert "Not judged" in done.stdout
    assert "relevance" not in done.stdout


def test_evidence_is_packed_into_a_budget(bundle: Path) -> None:
    arguments = ["tide mill", "-b", str(bundle), "--relevance", "0", "--budget", "12"]
    found = ask(*arguments)
    assert found["packed"]["tokens"] <= 12
    assert found["packed"]["skipped"]
    assert "of 12 tokens" in runner.invoke(app, ["ask", *arguments]).stdout


def test_the_evidence_comes_by_document_too(bundle: Path) -> None:
    found = ask("tide mill", "-b", str(bundle), "--relevance", "0")
    ranks = [rank for document in found["documents"] for rank in document["passages"]]
    assert sorted(ranks) == [item["rank"] for item in found["evidence"]]


@pytest.mark.parametrize(
    ("question", "flag", "code"),
    [
        ("how often does the ferry cross to the island", True, 0),
        ("who won the football world cup in 1998", True, 3),
        ("who won the football world cup in 1998", False, 0),
    ],
)
def test_an_abstention_is_an_exit_code_on_demand(
    bundle: Path, question: str, flag: bool, code: int
) -> None:
    arguments = ["ask", question, "-b", str(bundle), *(["--exit-code"] if flag else [])]
    assert runner.invoke(app, arguments).exit_code == code


def test_without_a_bundle_it_says_what_makes_one(tmp_path: Path) -> None:
    done = runner.invoke(app, ["ask", "tide", "-b", str(tmp_path)])
    assert done.exit_code == 1
    assert "laya process" in done.stderr
    assert done.stdout == ""


def test_output_is_the_same_on_every_run(bundle: Path) -> None:
    def once() -> dict[str, Any]:
        found = ask("how often does the ferry cross to the island", "-b", str(bundle))
        del found["seconds"]
        return found

    assert once() == once()
