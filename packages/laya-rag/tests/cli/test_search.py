from __future__ import annotations

import json
from pathlib import Path

import pytest
from laya_rag.cli.app import app
from laya_rag.cli.output import printable
from typer.testing import CliRunner

runner = CliRunner()


def documents(*arguments: str) -> set[str]:
    done = runner.invoke(app, ["search", *arguments, "--json", "--top", "50"])
    assert done.exit_code == 0, done.stderr
    return {result["document_id"] for result in json.loads(done.stdout)["results"]}


def test_quarantined_passages_are_withheld_and_counted(bundle: Path) -> None:
    done = runner.invoke(app, ["search", "tide mill", "-b", str(bundle), "--json"])
    result = json.loads(done.stdout)
    assert "spam/x" not in {item["document_id"] for item in result["results"]}
    assert result["removed"] == {"trust": 1}


@pytest.mark.parametrize(
    ("tier", "visible"),
    [
        ("trusted", {"acme/one", "acme/two", "globex/one"}),
        ("untrusted", {"acme/one", "acme/two", "globex/one", "inbox/mail"}),
        ("quarantined", {"acme/one", "acme/two", "globex/one", "inbox/mail", "spam/x"}),
    ],
)
def test_the_least_trust_tier_decides(bundle: Path, tier: str, visible: set[str]) -> None:
    assert documents("tide mill", "-b", str(bundle), "--min-trust", tier) == visible


def test_a_bundle_with_tenants_asks_for_one(tenant_bundle: Path) -> None:
    done = runner.invoke(app, ["search", "tide", "-b", str(tenant_bundle)])
    assert done.exit_code == 1
    assert "--tenant" in done.stderr
    assert "acme" not in done.stderr


@pytest.mark.parametrize(
    ("tenant", "visible"),
    [("acme", {"acme/one", "acme/two"}), ("globex", {"globex/one"}), ("nobody", set())],
)
def test_a_tenant_sees_its_own_only(tenant_bundle: Path, tenant: str, visible: set[str]) -> None:
    assert documents("tide", "-b", str(tenant_bundle), "--tenant", tenant) == visible


def test_a_bundle_without_tenants_shows_a_tenant_nothing(bundle: Path) -> None:
    assert documents("tide", "-b", str(bundle), "--tenant", "acme") == set()


def test_one_leg_alone(bundle: Path) -> None:
    done = runner.invoke(app, ["search", "tide", "-b", str(bundle), "--leg", "bm25", "--json"])
    assert json.loads(done.stdout)["legs"] == ["bm25"]


def test_a_leg_that_the_bundle_lacks_is_an_error(lexical_bundle: Path) -> None:
    done = runner.invoke(app, ["search", "tide", "-b", str(lexical_bundle), "--leg", "dense"])
    assert done.exit_code == 1
    assert "no leg can run" in done.stderr


def test_the_screen_shows_every_leg(bundle: Path) -> None:
    done = runner.invoke(app, ["search", "ferry", "-b", str(bundle)], env={"COLUMNS": "200"})
    assert "bm25   rank 1" in done.stdout
    assert "dense  rank 1" in done.stdout
    assert "acme/two › Ferry" in done.stdout
    assert "withheld by trust or tenant" in done.stdout


def test_passages_cannot_move_the_cursor() -> None:
    assert printable("a\x1b[2Jb\u202ec\x07") == "a\ufffd[2Jb\ufffdc\ufffd"
