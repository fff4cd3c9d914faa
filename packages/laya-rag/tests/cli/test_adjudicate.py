from __future__ import annotations

import json
from pathlib import Path

from laya_rag.cli.app import app
from typer.testing import CliRunner

runner = CliRunner()
ANSWER = (
    "The ferry crosses to the island four times a day [1]. "
    "The football world cup was won by France in 1998."
)


def test_each_claim_is_judged_by_what_the_bundle_says(bundle: Path) -> None:
    done = runner.invoke(app, ["adjudicate", "-", "-b", str(bundle), "--json"], input=ANSWER)
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert [claim["support"] for claim in found["claims"]] == ["supported", "not_measured"]
    assert found["claims"][0]["passages"][0]["record_id"] == "acme/two#chunk-0"
    assert found["claims"][1]["probability"] is None
    assert found["counts"]["claims"] == 2
    first = found["claims"][0]
    assert ANSWER[first["start"] : first["end"]] == first["text"]


def test_the_screen_shows_claims_and_passages(bundle: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.md"
    answer.write_text(ANSWER)
    done = runner.invoke(
        app,
        ["adjudicate", str(answer), "-b", str(bundle), "--exit-code"],
        env={"COLUMNS": "200"},
    )
    assert done.exit_code == 3
    assert "supported, P = 0." in done.stdout
    assert "not measured" in done.stdout
    assert "acme/two › Ferry" in done.stdout
    assert "does not establish" in done.stdout


def test_a_tenant_s_claims_rest_on_its_own_passages(tenant_bundle: Path) -> None:
    done = runner.invoke(
        app,
        ["adjudicate", "-", "-b", str(tenant_bundle), "--tenant", "globex", "--json"],
        input=ANSWER,
    )
    assert done.exit_code == 0, done.stderr
    assert "acme" not in done.stdout.replace(str(tenant_bundle), "")
