from __future__ import annotations

import json
from pathlib import Path

import pytest
from laya_rag.cli.app import app
from typer.testing import CliRunner

runner = CliRunner()


@pytest.fixture(autouse=True)
def _settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("laya.toml").write_text("[search]\nkeep = 6\ndepth = 9\n")
    monkeypatch.setenv("LAYA_RAG_SEARCH__DEPTH", "7")


def test_every_value_comes_with_its_origin() -> None:
    done = runner.invoke(app, ["config", "--set", "gate.relevance=0.6", "--json"])
    assert done.exit_code == 0, done.stderr
    found = {item["key"]: item for item in json.loads(done.stdout)["settings"]}
    assert found["search.keep"] == {
        "key": "search.keep",
        "value": 6,
        "from": "file",
        "source": "laya.toml:2",
    }
    assert found["search.depth"]["source"] == "LAYA_RAG_SEARCH__DEPTH"
    assert found["gate.relevance"]["source"] == "--set gate.relevance"
    assert found["gate.candidates"] == {
        "key": "gate.candidates",
        "value": 20,
        "from": "default",
        "source": None,
    }


def test_the_screen_shows_the_same() -> None:
    done = runner.invoke(app, ["config"], env={"COLUMNS": "120"})
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["search.keep", "6", "laya.toml:2"] in lines
    assert ["search.depth", "7", "LAYA_RAG_SEARCH__DEPTH"] in lines
    assert ["gate.candidates", "20", "default"] in lines


def test_an_unknown_key_is_an_error(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("gat = 1\n")
    done = runner.invoke(app, ["config", "--config", str(other)])
    assert done.exit_code == 1
    assert "other.toml:1: unknown key 'gat'; did you mean 'gate'?" in done.stderr
