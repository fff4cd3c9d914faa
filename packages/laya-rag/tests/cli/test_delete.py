from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from laya_index.bundle.manifest import read_manifest
from laya_rag.cli import delete as command
from laya_rag.cli.app import app
from typer.testing import CliRunner

runner = CliRunner()


@pytest.fixture
def copy(lexical_bundle: Path, tmp_path: Path) -> Path:
    return shutil.copytree(lexical_bundle, tmp_path / "bundle")


def test_documents_leave_the_bundle_and_the_output_says_for_how_long(copy: Path) -> None:
    done = runner.invoke(app, ["delete", "acme/one", "-b", str(copy), "--path", "spam/*", "--yes"])
    assert done.exit_code == 0, done.stderr
    assert "deleted acme/one" in done.stdout
    assert "deleted spam/x" in done.stdout
    assert "laya process" in done.stdout
    assert "laya delete --restore" in done.stdout
    assert read_manifest(copy).excluded == ["acme/one", "spam/x"]
    done = runner.invoke(app, ["delete", "--list", "-b", str(copy)])
    assert done.stdout.split() == ["acme/one", "spam/x"]
    done = runner.invoke(app, ["delete", "--list", "-b", str(copy), "--json"])
    assert json.loads(done.stdout)["excluded"] == ["acme/one", "spam/x"]


def test_the_json_says_what_happened(copy: Path) -> None:
    done = runner.invoke(app, ["delete", "acme/one", "-b", str(copy), "--yes", "--json"])
    assert json.loads(done.stdout) == {
        "bundle": str(copy),
        "state": "changed",
        "deleted": ["acme/one"],
        "listed": [],
        "restored": [],
        "excluded": ["acme/one"],
        "documents": 4,
        "chunks": 4,
    }
    again = runner.invoke(app, ["delete", "acme/one", "-b", str(copy), "--json"])
    assert json.loads(again.stdout)["listed"] == ["acme/one"]
    back = runner.invoke(app, ["delete", "--restore", "acme/one", "-b", str(copy), "--json"])
    assert json.loads(back.stdout)["restored"] == ["acme/one"]
    assert read_manifest(copy).excluded == []


def test_the_next_run_may_do_it(copy: Path) -> None:
    done = runner.invoke(app, ["delete", "acme/one", "-b", str(copy), "--next-run"])
    assert done.exit_code == 0, done.stderr
    assert "on the list acme/one" in done.stdout
    manifest = read_manifest(copy)
    assert (manifest.excluded, manifest.counts.documents) == (["acme/one"], 5)


def test_a_dry_run_changes_nothing(copy: Path) -> None:
    before = (copy / "manifest.json").read_bytes()
    done = runner.invoke(app, ["delete", "acme/one", "-b", str(copy), "--dry-run"])
    assert done.exit_code == 0
    assert "would be deleted acme/one" in done.stdout
    assert (copy / "manifest.json").read_bytes() == before


@pytest.mark.parametrize(("answer", "deleted"), [("y\n", ["acme/one"]), ("n\n", [])])
def test_on_a_terminal_somebody_is_asked(
    copy: Path, monkeypatch: pytest.MonkeyPatch, answer: str, deleted: list[str]
) -> None:
    monkeypatch.setattr(command, "_somebody_is_there", lambda: True)
    done = runner.invoke(app, ["delete", "acme/one", "-b", str(copy)], input=answer)
    assert "Delete 1 document?" in done.stderr
    assert done.exit_code == (0 if deleted else 1)
    assert read_manifest(copy).excluded == deleted


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["acme/one"], 2, "--yes"),
        ([], 2, "--path"),
        (["acme/one", "--restore", "acme/two"], 2, "--restore"),
        (["nobody", "--yes"], 1, "no document 'nobody'"),
        (["--path", "nobody/*", "--yes"], 1, "'nobody/*'"),
        (["--restore", "acme/one"], 1, "acme/one"),
    ],
)
def test_what_makes_no_sense_is_refused(
    copy: Path, arguments: list[str], code: int, message: str
) -> None:
    before = (copy / "manifest.json").read_bytes()
    done = runner.invoke(app, ["delete", *arguments, "-b", str(copy)], env={"COLUMNS": "200"})
    assert done.exit_code == code
    assert message in done.stderr
    assert (copy / "manifest.json").read_bytes() == before


def test_without_a_bundle_it_says_which_command_makes_one(tmp_path: Path) -> None:
    done = runner.invoke(app, ["delete", "x", "-b", str(tmp_path / "no"), "--yes"])
    assert done.exit_code == 1
    assert "laya process" in done.stderr
