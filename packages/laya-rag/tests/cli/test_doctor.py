from __future__ import annotations

import json
import shutil
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from laya_index.bundle.cache import cache_folder
from laya_rag.cli import doctor as command
from laya_rag.cli.app import app
from laya_signals.encode.mini import MiniEncoder
from typer.testing import CliRunner

runner = CliRunner()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_run_encoder", lambda: "runs")
    monkeypatch.setattr(command, "_run_decision", lambda: "runs")


@pytest.fixture
def copy(lexical_bundle: Path, tmp_path: Path) -> Path:
    return shutil.copytree(lexical_bundle, tmp_path / "bundle")


def checks(*arguments: str, code: int = 0) -> dict[str, Any]:
    done = runner.invoke(app, ["doctor", *arguments, "--json"])
    assert done.exit_code == code, done.stderr
    result = json.loads(done.stdout)
    assert result["healthy"] == (code == 0)
    return {check["name"]: check for check in result["checks"]}


def test_everything_works_here(copy: Path) -> None:
    found = checks("-b", str(copy), "--hashes")
    assert {check["state"] for check in found.values()} <= {"ok", "note"}
    assert "every hash verified" in found["bundle"]["detail"]
    assert found.keys() >= {"python", "packages", "threads", "extra qdrant", "cache", "disk"}


@pytest.mark.slow
def test_the_embedded_models_run(monkeypatch: pytest.MonkeyPatch, copy: Path) -> None:
    monkeypatch.undo()
    found = checks("-b", str(copy))
    assert found["model encoder.mini"]["detail"].startswith("hashes verified")
    assert found["model decision.mini"]["detail"].startswith("hashes verified")


def test_a_model_that_does_not_load_is_broken(monkeypatch: pytest.MonkeyPatch, copy: Path) -> None:
    def broken() -> str:
        raise RuntimeError("no such instruction")

    monkeypatch.setattr(command, "_run_encoder", broken)
    found = checks("-b", str(copy), code=1)
    assert found["model encoder.mini"]["state"] == "broken"
    assert "no such instruction" in found["model encoder.mini"]["detail"]
    assert found["model encoder.mini"]["fix"]


def test_a_bundle_that_was_asked_for_has_to_be_there(tmp_path: Path) -> None:
    found = checks("-b", str(tmp_path / "no"), code=1)
    assert "laya process" in found["bundle"]["fix"]


def test_the_default_bundle_may_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert checks()["bundle"]["state"] == "note"


def test_a_damaged_file_is_found_by_its_size_or_its_hash(copy: Path) -> None:
    (path,) = (copy / "chunks").iterdir()
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    assert checks("-b", str(copy), code=1)["bundle"]["state"] == "broken"
    path.write_bytes(content[:-20] + bytes(20))
    assert checks("-b", str(copy))["bundle"]["state"] == "ok"
    assert path.name in checks("-b", str(copy), "--hashes", code=1)["bundle"]["detail"]


def test_a_bundle_of_another_model_is_found(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MiniEncoder, "fingerprint", property(lambda self: "0123456789abcdef"))
    found = checks("-b", str(bundle), code=1)["bundle models"]
    assert "0123456789abcdef" in found["detail"]
    assert "laya process" in found["fix"]


def test_a_lock_is_held_or_left_behind(copy: Path) -> None:
    cache = cache_folder(copy)
    cache.mkdir()
    (cache / "holder.json").write_text(json.dumps({"pid": 4711, "host": "elsewhere"}))
    assert "killed" in checks("-b", str(copy))["lock"]["detail"]
    with FileLock(cache / "lock"):
        assert "process 4711 on elsewhere" in checks("-b", str(copy))["lock"]["detail"]


def test_a_full_disk_is_broken(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10, 10, 0))
    assert checks("-b", str(copy), code=1)["disk"]["fix"] == "make room"


def test_an_extra_that_is_missing_is_a_note_that_names_it(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    found = checks("-b", str(copy))["extra qdrant"]
    assert (found["state"], "laya-rag[qdrant]" in found["fix"]) == ("note", True)


def test_an_unknown_processor_is_a_note(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_FAST", ("none-such",))
    assert checks("-b", str(copy))["processor"]["state"] == "note"


def test_the_screen_ends_with_the_verdict(copy: Path, tmp_path: Path) -> None:
    done = runner.invoke(app, ["doctor", "-b", str(copy)])
    assert done.exit_code == 0
    assert done.stdout.rstrip().endswith("everything works")
    done = runner.invoke(app, ["doctor", "-b", str(tmp_path / "no")])
    assert done.exit_code == 1
    assert done.stdout.rstrip().endswith("1 broken")


@pytest.mark.slow
def test_a_store_is_looked_at_instead_of_a_folder(tmp_path: Path, lexical_bundle: Path) -> None:
    place = f"lancedb://{tmp_path}/store/notes"
    assert checks("-b", place, code=1)["store"]["state"] == "broken"
    pushed = runner.invoke(app, ["push", str(lexical_bundle), "--to", place])
    assert pushed.exit_code == 0, pushed.stderr
    assert checks("-b", place)["store"]["state"] == "ok"
