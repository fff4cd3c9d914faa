"""`laya inspect`, and what `laya eval check` says of its page."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from laya_rag.cli.app import app
from typer.testing import CliRunner

ROOT = Path(__file__).parents[4]
runner = CliRunner()


@pytest.fixture
def demo(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "stacks" / "inspectable", tmp_path / "stacks" / "inspectable")
    shutil.copy(ROOT / "stacks" / "inspectable.yaml", tmp_path / "stacks")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*words):
    return runner.invoke(app, list(words))


def test_build_writes_a_page_that_check_finds_fresh(demo):
    built = invoke("inspect", "build", "--json")
    assert built.exit_code == 0, built.stderr
    said = json.loads(built.stdout)
    assert said["page"] == "docs/inspectable/index.html"
    assert sorted(path.name for path in (demo / "docs" / "inspectable").iterdir()) == said["files"]
    checked = invoke("eval", "check", "docs/inspectable", "--json")
    assert checked.exit_code == 0, checked.stderr
    assert json.loads(checked.stdout) == {
        "report": "docs/inspectable",
        "fresh": True,
        "files": said["files"],
    }


def test_a_stale_byte_fails_the_check(demo):
    assert "open page/index.html" in invoke("inspect", "build", "--out", "page").stdout
    with (demo / "page" / "page.js").open("a") as file:
        file.write(" ")
    checked = invoke("eval", "check", "page")
    assert checked.exit_code == 1
    assert "page.js differs; run `laya inspect build` again" in checked.stderr


def test_check_can_be_told_where_the_stack_is_but_there_is_no_data(demo):
    invoke("inspect", "build")
    shutil.move("stacks/inspectable.yaml", "moved.yaml")
    assert invoke("eval", "check", "docs/inspectable").exit_code == 1
    assert invoke("eval", "check", "docs/inspectable", "--target", "moved.yaml").exit_code == 1
    (demo / "other").mkdir()
    shutil.move("moved.yaml", "other/inspectable.yaml")
    moved = invoke("eval", "check", "docs/inspectable", "--target", "other/inspectable.yaml")
    assert moved.exit_code == 0, moved.stderr
    assert invoke("eval", "check", "docs/inspectable", "--data", "x").exit_code == 2


def test_build_refuses_text_that_was_changed_after_encoding_and_writes_nothing(demo):
    corpus = demo / "stacks" / "inspectable" / "corpus.jsonl"
    corpus.write_text(corpus.read_text().replace("The hinges are bronze.", "The hinges are iron."))
    done = invoke("inspect", "build")
    assert done.exit_code == 1
    assert "tide-mill-repair is of another text" in done.stderr
    assert not (demo / "docs").exists()


def test_vectors_writes_them_anew(demo):
    saved = demo / "stacks" / "inspectable" / "vectors.json"
    saved.unlink()
    done = invoke("inspect", "vectors", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == {
        "file": "stacks/inspectable/vectors.json",
        "documents": 24,
        "queries": 28,
    }
    first = saved.read_bytes()
    assert "24 paragraphs, 28 questions" in invoke("inspect", "vectors").stdout
    assert saved.read_bytes() == first
