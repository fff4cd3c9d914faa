"""`laya bench` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from laya_eval.bench import suite
from laya_eval.bench.report import COMMAND
from laya_eval.bench.row import Row
from laya_eval.page import markers
from laya_rag.cli.app import app
from typer.testing import CliRunner

run = CliRunner().invoke


@pytest.fixture(autouse=True)
def _own_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laya_eval.heavy.lock_file", lambda: tmp_path / "heavy.lock")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.setenv(name, "2")


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Row("task", "ms", 1.0, "peer 1.0", 2.0)]
    monkeypatch.setattr(suite, "measure", lambda name, setup: iter(found))


def test_the_list_says_what_each_measures() -> None:
    done = run(app, ["bench", "--list", "--json"])
    assert done.exit_code == 0
    assert tuple(json.loads(done.stdout)) == suite.NAMES
    assert "gate" in run(app, ["bench", "gate", "--list"]).stdout


@pytest.mark.usefixtures("rows")
def test_the_result_goes_to_the_terminal_and_to_files(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("\n".join(markers(COMMAND)))
    json_file, md_file = tmp_path / "out.json", tmp_path / "out.md"
    shared = ["bench", "query", "gate", "--quick"]
    done = run(app, [*shared, "--json", "--out", str(json_file), "--write", str(page)])
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert [(row["bench"], row["ratio"]) for row in data["rows"]] == [("query", 2.0), ("gate", 2.0)]
    assert json.loads(json_file.read_text()) == data
    assert "| task | 1 ms | 2 ms | 2.00 | peer 1.0 |" in page.read_text()
    done = run(app, [*shared, "--out", str(md_file), "--summary", str(page)])
    assert page.read_text().count("| task | 1 ms | 2 ms | 2.00 | peer 1.0 |\n") == 2
    assert "peer 1.0" in done.stdout
    assert "laya bench query gate --quick" in md_file.read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nothing"], 1, "no benchmark 'nothing'"),
        (["query", "--out", "x.txt"], 2, ".md or .json"),
        (["query", "--write", "no-such-page.md"], 2, "no-such-page.md"),
        (["query", "--data", "no-such-folder"], 2, "no-such-folder"),
    ],
)
def test_wrong_usage_says_what_is_wrong(arguments: list[str], code: int, message: str) -> None:
    done = run(app, ["bench", *arguments], env={"COLUMNS": "200"})
    assert done.exit_code == code
    assert message in done.stderr


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("option", ["--write", "--summary"])
def test_a_page_without_a_place_fails_before_anything_runs(tmp_path: Path, option: str) -> None:
    page = tmp_path / "page.md"
    page.write_text("no markers")
    done = run(app, ["bench", "query", option, str(page)])
    assert done.exit_code == 1
    assert "has no place for a table" in done.stderr
    assert "query …" not in done.stderr
