from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from laya_rag.cli.app import app
from typer.testing import CliRunner

runner = CliRunner()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["qdrant", "lancedb"])
def test_a_pushed_bundle_is_searched_by_its_address(
    bundle: Path, tmp_path: Path, kind: str
) -> None:
    place = f"{kind}://{tmp_path}/store/notes"
    done = runner.invoke(app, ["push", str(bundle), "--to", place, "--json"])
    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["state"], report["target"], report["rows"]["chunks"]) == ("pushed", place, 5)
    assert report["rows"] == report["written"]
    assert "chunks: 5 rows" in done.stderr
    again = runner.invoke(app, ["push", str(bundle), "--to", place, "--quiet"])
    assert again.stdout.startswith("unchanged")
    assert not again.stderr

    found = [
        json.loads(runner.invoke(app, ["search", "tide mill", "-b", where, "--json"]).stdout)
        for where in (str(bundle), place)
    ]
    ids = [[passage["record_id"] for passage in result["results"]] for result in found]
    assert ids[0] == ids[1]


@pytest.mark.parametrize(
    "address",
    [
        "redis://localhost/notes",
        "qdrant://localhost:6333",
        "qdrant://localhost:6333/",
        "qdrant://localhost:6333/a/b",
        "qdrant:///notes",
        "lancedb://host/notes",
        "lancedb+https:///srv/notes",
        "qdrant+ftp://localhost/notes",
        "qdrant://localhost:6333/no%20tes",
        "qdrant://localhost:6333/notes-0123456789abcdef",
        "notes",
    ],
)
def test_an_address_that_is_none_is_refused(bundle: Path, address: str) -> None:
    done = runner.invoke(app, ["push", str(bundle), "--to", address])
    assert done.exit_code == 1
    assert "qdrant://localhost:6333/notes" in done.stderr


def test_a_secret_in_an_address_is_refused_and_not_repeated(bundle: Path) -> None:
    for address in ("qdrant://me:hunter2@localhost/notes", "qdrant://h/notes?api_key=hunter2"):
        done = runner.invoke(app, ["push", str(bundle), "--to", address])
        assert done.exit_code == 1
        assert "hunter2" not in done.output


@pytest.mark.slow
def test_a_key_never_crosses_a_network_in_the_clear(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYA_QDRANT_API_KEY", "hunter2")
    done = runner.invoke(app, ["push", str(bundle), "--to", "qdrant://example.org:6333/notes"])
    assert done.exit_code == 1
    assert "qdrant+https" in done.stderr
    assert "hunter2" not in done.output


@pytest.mark.slow
def test_a_server_that_is_not_there_is_named_and_the_key_is_not(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYA_QDRANT_API_KEY", "hunter2")
    done = runner.invoke(app, ["push", str(bundle), "--to", "qdrant://127.0.0.1:1/notes"])
    assert done.exit_code == 1
    assert "qdrant://127.0.0.1:1/notes" in done.stderr
    assert "hunter2" not in done.output


@pytest.mark.parametrize(("kind", "package"), [("qdrant", "qdrant_client"), ("lancedb", "lancedb")])
def test_without_the_client_the_extra_is_named(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, package: str
) -> None:
    plain = importlib.import_module

    def without(name: str, *rest: Any) -> Any:
        if name == package:
            raise ImportError(name)
        return plain(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    done = runner.invoke(app, ["push", str(bundle), "--to", f"{kind}://{tmp_path}/store/notes"])
    assert done.exit_code == 1
    assert f"laya-rag[{kind}]" in done.stderr


def test_importing_the_backends_loads_no_client() -> None:
    modules = ", ".join(f"laya_rag.backend.{name}" for name in ("qdrant", "lancedb", "push"))
    code = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"qdrant_client", "lancedb"} & set(done.stdout.split())


def test_without_a_bundle_it_says_which_command_makes_one(tmp_path: Path) -> None:
    done = runner.invoke(
        app, ["push", str(tmp_path / "no"), "--to", f"lancedb://{tmp_path}/store/notes"]
    )
    assert done.exit_code == 1
    assert "laya process" in done.stderr
