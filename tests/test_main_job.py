"""The main job as a newcomer runs it: the shipped stacks, then a question."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STACKS = sorted((ROOT / "stacks").glob("*.yaml"))


def laya(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [Path(sys.executable).parent / "laya", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bundles")
    laya("process", *STACKS, "--out", out)
    return out


def bundle_bytes(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_every_shipped_stack_builds_something(built: Path) -> None:
    assert STACKS
    for stack in STACKS:
        manifest = json.loads((built / stack.stem / "manifest.json").read_text())
        assert manifest["counts"]["chunks"] > 0
        assert manifest["bm25"] is not None
        assert manifest["embeddings"]


def test_a_second_run_is_unchanged_and_writes_nothing(built: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in built.rglob("*.parquet")}
    report = json.loads(laya("process", *STACKS, "--out", built, "--json", "--quiet").stdout)
    assert [stack["state"] for stack in report["stacks"]] == ["unchanged"] * len(STACKS)
    assert {path: path.stat().st_mtime_ns for path in built.rglob("*.parquet")} == before


def test_a_full_run_gives_the_same_bytes(built: Path, tmp_path: Path) -> None:
    laya("process", ROOT / "stacks" / "default.yaml", "--out", tmp_path / "default", "--full")
    assert bundle_bytes(tmp_path / "default") == bundle_bytes(built / "default")


@pytest.mark.parametrize(
    ("question", "document", "heading"),
    [
        (
            "how does an incremental run stay byte-identical",
            "docs/bundle.md",
            "How an incremental run stays byte-identical",
        ),
        ("what survives a crash of the run", "docs/bundle.md", "What survives a crash"),
        ("why is redaction done before chunking", "adr/0002-redact-before-chunking.md", ""),
    ],
)
def test_the_right_passage_comes_first(
    built: Path, question: str, document: str, heading: str
) -> None:
    found = json.loads(laya("search", question, "--bundle", built / "default", "--json").stdout)
    first = found["results"][0]
    assert first["document_id"] == document
    assert heading in " ".join(first["heading_path"])
    assert found["legs"] == ["bm25", "dense"]


def test_offsets_lead_to_the_passage_in_its_file(built: Path) -> None:
    found = json.loads(
        laya("search", "trust tiers", "--bundle", built / "default", "--json").stdout
    )
    assert found["results"]
    for result in found["results"]:
        text = (ROOT / result["document_id"]).read_text(encoding="utf-8")
        assert text[result["start"] : result["end"]] == result["text"]


def test_contributions_add_up_to_the_score(built: Path) -> None:
    found = json.loads(
        laya("search", "the wheel turns", "--bundle", built / "inspectable", "--json").stdout
    )
    for result in found["results"]:
        assert result["score"] == pytest.approx(sum(leg["contribution"] for leg in result["legs"]))


def test_a_failed_stack_does_not_stop_the_others(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: bad\nsorce: {provider: source.files}\nexport: {path: x}\n")
    done = laya(
        "process", bad, ROOT / "stacks" / "inspectable.yaml", "--out", tmp_path / "out", code=1
    )
    assert f"{bad}:2: unknown key 'sorce'; did you mean 'source'?" in done.stderr
    assert (tmp_path / "out" / "inspectable" / "manifest.json").exists()
    assert "failed" in done.stdout


def test_two_stacks_may_not_write_one_bundle(tmp_path: Path) -> None:
    text = (ROOT / "stacks" / "inspectable.yaml").read_text()
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    for file in (first, second):
        file.write_text(text.replace(".laya/inspectable", str(tmp_path / "same")))
    assert "writes the same bundle" in laya("process", first, second, code=1).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["process", "absent.yaml"], 2, "does not exist"),
        (["process"], 2, "Missing argument"),
        (["search", "x", "--bundle", "absent"], 1, "laya process"),
        (["search", "  "], 2, "blank"),
        (["search", "x", "--top", "0"], 2, "greater than or equal to 1"),
        (["serch"], 2, "search"),
    ],
)
def test_wrong_use_is_answered(arguments: list[str], code: int, message: str) -> None:
    done = laya(*arguments, code=code)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
