from __future__ import annotations

import json
from pathlib import Path

import pytest
from laya_index.leaks import find_leaks, leaks_in
from laya_rag.cli.app import app
from typer.testing import CliRunner

runner = CliRunner()

TEXT = "The tide mill stands at the old harbour, and it has stood there for long. " * 6
STACK = """
name: coast
source: {{provider: source.files, config: {{root: {root}}}}}
redact: {{provider: redact.patterns}}
signals: {{bm25: {{provider: tokenizer.word}}}}
export: {{path: {out}}}
"""


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    root = tmp_path / "in"
    root.mkdir()
    (root / "a.txt").write_text(TEXT)
    (root / "b.txt").write_text("The ferry crosses to the island four times a day.")
    path = tmp_path / "coast.yaml"
    path.write_text(STACK.format(root=root, out=tmp_path / "bundle"))
    assert runner.invoke(app, ["process", str(path), "-q"]).exit_code == 0
    return path


def run(*arguments: object, code: int = 0) -> str:
    done = runner.invoke(app, ["integrity", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.stdout


def report(*arguments: object, code: int = 0) -> dict:
    found: dict = json.loads(run(*arguments, "--json", code=code))
    return found


def test_a_bundle_just_built_is_clean(stack: Path) -> None:
    found = report("--stack", stack)
    assert found["sound"]
    assert not found["remarkable"]
    assert found.keys() == {
        *("bundle", "stack", "documents", "chunks", "bytes", "files", "drift", "duplicates"),
        *("near", "identities", "unchecked", "sound", "remarkable"),
    }
    assert not found["drift"]["stale"]
    shown = run("--stack", stack)
    assert "problem" not in shown
    assert "files" in shown


def test_without_a_stack_it_says_what_it_did_not_look_at(stack: Path, tmp_path: Path) -> None:
    shown = run("--bundle", tmp_path / "bundle")
    assert "unchecked" in shown
    assert "needs the stack file" in " ".join(shown.split())


def test_problems_end_with_1(stack: Path, tmp_path: Path) -> None:
    (tmp_path / "in" / "a.txt").write_text("Other words.")
    (tmp_path / "in" / "c.txt").write_text("New words.")
    (tmp_path / "in" / "b.txt").unlink()
    shown = run("--stack", stack, code=1)
    for line in ("deleted b.txt", "changed a.txt", "new c.txt"):
        assert line in shown
    (tmp_path / "bundle" / "stray").write_text("x")
    shown = run("--bundle", tmp_path / "bundle", code=1)
    assert "stray: stray" in shown
    assert report("--bundle", tmp_path / "bundle", code=1)["files"][0]["path"] == "stray"


def test_remarks_end_with_1_only_where_that_is_wanted(stack: Path, tmp_path: Path) -> None:
    (tmp_path / "in" / "a2.txt").write_text(TEXT.replace(" at ", "\n at "))
    (tmp_path / "in" / "a3.txt").write_text(TEXT + "Truly.")
    assert runner.invoke(app, ["process", str(stack), "-q"]).exit_code == 0
    shown = run("--stack", stack)
    assert "a.txt = a2.txt" in shown
    assert "a.txt ~ a3.txt" in shown
    assert run("--stack", stack, "--strict", code=1) == shown
    assert "a3.txt" not in run("--stack", stack, "--limit", 0)
    assert report("--stack", stack, "--threshold", 1)["near"]["pairs"] == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--threshold", "0"], 2),
        (["--threshold", "1.5"], 2),
        (["--limit", "-1"], 2),
        (["--set", "chunk.chars=9"], 2),
        (["--stack", "no/such.yaml"], 2),
        (["--bundle", "no/such/bundle"], 1),
    ],
)
def test_wrong_usage_and_no_bundle(arguments: list[str], code: int) -> None:
    run(*arguments, code=code)


def test_what_process_and_integrity_say_holds_no_personal_data(tmp_path: Path) -> None:
    planted = {"mail": "zqarblefox@keldmoor.example", "key": "ghp_" + "a1B2" * 9}
    root = tmp_path / "in"
    root.mkdir()
    for name in ("a.md", "b.md"):
        (root / name).write_text("# Of {mail}\n\nAsk {mail} for {key}. ".format(**planted) * 9)
    (root / "c.pdf").write_text("%PDF {mail}".format(**planted))
    path = tmp_path / "coast.yaml"
    path.write_text(STACK.format(root=root, out=tmp_path / "made" / "bundle"))
    for command in (
        ["process", str(path)],
        ["process", str(path), "--json", "--full"],
        ["integrity", "--stack", str(path)],
        ["integrity", "--stack", str(path), "--json"],
    ):
        done = runner.invoke(app, command)
        assert done.exit_code == 0, done.output
        assert leaks_in(done.stdout + done.stderr, planted) == []
    assert find_leaks(tmp_path / "made", planted) == []
