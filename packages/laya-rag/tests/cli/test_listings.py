"""`laya stats`, `laya documents` and `laya chunks`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from laya_rag.cli.app import app
from typer.testing import CliRunner

runner = CliRunner()


def run(*arguments: object) -> Any:
    done = runner.invoke(app, [str(argument) for argument in (*arguments, "--json")])
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_stats_count_what_the_caller_sees(tenant_bundle: Path) -> None:
    whole = run("stats", "-b", tenant_bundle, "--all-tenants", "--min-trust", "quarantined")
    assert (whole["documents"], whole["chunks"]) == (5, 5)
    assert whole["tiers"] == {"quarantined": 1, "untrusted": 1, "trusted": 3}
    assert whole["legs"] == ["bm25", "dense"]
    assert whole["models"].keys() == {"bm25", "dense"}
    assert whole["whole"]["tenants"] == ["acme", "globex"]
    assert whole["bundle"]["path"] == str(tenant_bundle)

    acme = run("stats", "-b", tenant_bundle, "--tenant", "acme")
    assert (acme["documents"], acme["chunks"]) == (2, 2)
    assert acme["tiers"] == {"untrusted": 0, "trusted": 2}
    assert (acme["whole"], acme["bundle"]["identity"]) == (None, None)
    assert "globex" not in json.dumps(acme)


def test_stats_on_the_screen_name_tenants_only_to_who_sees_all(tenant_bundle: Path) -> None:
    for who, named in (("--all-tenants", True), ("--tenant=acme", False)):
        done = runner.invoke(app, ["stats", "-b", str(tenant_bundle), who])
        assert done.exit_code == 0
        assert ("globex" in done.stdout) == named
        assert "passages" in done.stdout


def test_pages_of_documents_follow_each_other(bundle: Path) -> None:
    seen: list[str] = []
    after: list[str] = []
    for _ in range(4):
        page = run("documents", "-b", bundle, "--min-trust", "quarantined", "--limit", 2, *after)
        seen += [row["document_id"] for row in page["documents"]]
        if page["after"] is None:
            break
        after = ["--after", page["after"]]
    assert seen == ["acme/one", "acme/two", "globex/one", "inbox/mail", "spam/x"]


def test_the_screen_says_how_to_go_on(bundle: Path) -> None:
    done = runner.invoke(app, ["documents", "-b", str(bundle), "--limit", "1"])
    assert "acme/one" in done.stdout
    assert "--after acme/one" in done.stdout
    done = runner.invoke(app, ["documents", "-b", str(bundle)])
    assert "--after" not in done.stdout


def test_documents_are_those_of_the_tenant(tenant_bundle: Path) -> None:
    page = run("documents", "-b", tenant_bundle, "--tenant", "globex")
    assert [row["document_id"] for row in page["documents"]] == ["globex/one"]


@pytest.mark.parametrize("command", [["stats"], ["documents"], ["chunks", "acme/one"]])
def test_a_bundle_with_tenants_asks_for_one(tenant_bundle: Path, command: list[str]) -> None:
    done = runner.invoke(app, [*command, "-b", str(tenant_bundle)])
    assert done.exit_code == 1
    assert "--tenant" in done.stderr
    assert not done.stdout


def test_chunks_come_whole_and_in_order(bundle: Path) -> None:
    page = run("chunks", "acme/two", "-b", bundle)
    assert page["document"]["title"] == "Ferry"
    (chunk,) = page["chunks"]
    assert chunk["text"] == "The ferry crosses to the island four times a day."
    assert (chunk["ordinal"], chunk["start"]) == (0, 0)
    assert run("chunks", "acme/two", "-b", bundle, "--after", 0)["chunks"] == []
    done = runner.invoke(app, ["chunks", "acme/two", "-b", str(bundle)])
    assert "four times a day." in done.stdout


def test_another_tenants_document_is_as_unknown_as_none(tenant_bundle: Path) -> None:
    said = []
    for name in ("globex/one", "no/such"):
        done = runner.invoke(app, ["chunks", name, "-b", str(tenant_bundle), "--tenant", "acme"])
        assert done.exit_code == 1
        said.append(done.stderr.replace(name, "X"))
    assert said[0] == said[1]
