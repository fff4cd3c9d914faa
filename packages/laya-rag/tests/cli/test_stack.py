from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from laya_rag.cli.app import app
from laya_rag.validate import run
from laya_rag.validate.base import Finding
from laya_rag.validate.run import CHECKS
from typer.testing import CliRunner

STACK = """
name: NAME
source: {provider: source.files}
redact: {provider: redact.patterns}
signals: {bm25: {provider: tokenizer.word}}
export: {path: out}
"""


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    path = tmp_path / "coast.yaml"
    path.write_text(STACK.replace("NAME", "coast"))
    return path


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, ...]]:
    """Checks that look at nothing; the problems that a row should have go into the mapping."""
    problems: dict[str, tuple[str, ...]] = {}

    def check(name: str) -> run.Check:
        return lambda trial: Finding(f"{name} of {trial.seed}", problems.get(name, ()))

    monkeypatch.setattr(run, "_RUN", {name: check(name) for name in run._RUN})
    return problems


def test_rows_come_in_their_order_with_stable_keys(stack: Path, quick: object) -> None:
    result = CliRunner().invoke(app, ["stack", "validate", str(stack), "--json", "--seed", "3"])
    assert result.exit_code == 0
    (found,) = json.loads(result.stdout)["stacks"]
    assert set(found) == {"file", "passed", "stack", "stack_hash", "seed", "seconds", "rows"}
    assert (found["file"], found["stack"], found["seed"]) == (str(stack), "coast", 3)
    assert [row["check"] for row in found["rows"]] == list(CHECKS)
    for row in found["rows"]:
        assert set(row) == {"check", "passed", "detail", "problems", "facts", "seconds"}
    assert found["rows"][0]["detail"] == "contracts of 3"


def test_a_failed_row_says_why_and_the_exit_code_is_1(
    stack: Path, quick: dict[str, tuple[str, ...]]
) -> None:
    quick["pii"] = ("email_office is in x", "and 3 more")
    result = CliRunner().invoke(app, ["stack", "validate", str(stack)])
    assert result.exit_code == 1
    assert "coast: FAIL" in result.stdout
    assert "email_office is in x" in result.stdout
    assert "and 3 more" in result.stdout
    assert result.stdout.count("PASS") == len(CHECKS) - 1
    assert "coast: determinism" in result.stderr


def test_quiet_means_no_progress(stack: Path, quick: object) -> None:
    assert CliRunner().invoke(app, ["stack", "validate", str(stack), "-q"]).stderr == ""


def test_each_of_several_stacks_has_a_verdict_and_a_report_of_its_own(
    stack: Path, tmp_path: Path, quick: object
) -> None:
    other, wrong = tmp_path / "other.yaml", tmp_path / "wrong.yaml"
    other.write_text(STACK.replace("NAME", "other"))
    wrong.write_text("nonsense: 1")
    files = [str(stack), str(wrong), str(other)]
    out = tmp_path / "report"
    result = CliRunner().invoke(app, ["stack", "validate", *files, "--out", str(out), "--json"])
    assert result.exit_code == 1
    found = json.loads(result.stdout)["stacks"]
    assert [entry["passed"] for entry in found] == [True, False, True]
    assert found[1]["rows"] == []
    assert "unknown key 'nonsense'" in found[1]["error"]
    assert "unknown key 'nonsense'" in result.stderr
    for name in ("coast", "other"):
        data = json.loads((out / name / "report.json").read_text())
        assert data["stack"] == name
        assert data["rows"][-1]["check"] == "report"
        assert (out / name / "report.md").read_text().startswith(f"# Stack {name}: PASS")


def test_one_stack_reports_into_the_folder_itself(
    stack: Path, tmp_path: Path, quick: object
) -> None:
    CliRunner().invoke(app, ["stack", "validate", str(stack), "--out", str(tmp_path / "report")])
    assert (tmp_path / "report" / "report.json").exists()


def test_a_setting_can_be_overridden(stack: Path, quick: object) -> None:
    result = CliRunner().invoke(
        app, ["stack", "validate", str(stack), "--set", "chunk.charz=3", "--set", "nope"]
    )
    assert result.exit_code == 1
    assert "--set wants stage.key=value" in result.stderr


@pytest.mark.slow
def test_ctrl_c_ends_it_and_leaves_nothing_behind(stack: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    child = subprocess.Popen(
        [Path(sys.executable).parent / "laya", "stack", "validate", str(stack)],
        env={**os.environ, "TMPDIR": str(scratch)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert child.stderr is not None
    for line in child.stderr:
        if "determinism" in line:
            break
    time.sleep(1)
    assert list(scratch.glob("laya-validate-*"))
    os.killpg(child.pid, signal.SIGINT)
    said = child.stderr.read()
    assert child.wait(60) == 130
    assert said.strip().endswith("laya: interrupted")
    assert list(scratch.iterdir()) == []
