from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from laya_rag.cli.app import app
from laya_rag.http.audit import GENESIS, AuditError, AuditLog, verify
from typer.testing import CliRunner

RUNNER = CliRunner()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    audit = AuditLog(tmp_path / "log.jsonl")
    for number in range(5):
        audit.append(caller="ann", action="index", details={"ids": ["ä" * number]})
    return audit.path


def heads(path: Path) -> list[str]:
    return [json.loads(line)["hash"] for line in path.read_text().splitlines()]


def said(*arguments: str, code: int) -> str:
    result = RUNNER.invoke(app, ["audit", "verify", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_each_line_follows_from_the_one_before(log: Path) -> None:
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [entry["entry"] for entry in entries] == [1, 2, 3, 4, 5]
    assert [entry["previous"] for entry in entries] == [GENESIS, *heads(log)[:-1]]
    state = verify(log)
    assert (state.entries, state.head) == (5, heads(log)[-1])
    assert log.stat().st_mode & 0o077 == 0


def test_a_log_goes_on_where_it_ended(log: Path) -> None:
    again = AuditLog(log)
    assert again.begun.entries == 5
    again.append(caller="bob")
    assert verify(log).entries == 6


@pytest.mark.parametrize("line", [1, 3, 5])
@pytest.mark.parametrize("change", ["edit", "remove", "double", "swap", "insert", "blank", "cut"])
def test_the_first_line_that_is_wrong_is_named(log: Path, line: int, change: str) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    at = line - 1
    wrong: int | None = line
    if change == "edit":
        lines[at] = lines[at].replace(b'"ann"', b'"eve"')
    elif change == "remove":
        del lines[at]
        wrong = None if line == 5 else line
    elif change == "double":
        lines.insert(at, lines[at])
        wrong = line + 1
    elif change == "swap":
        other = at - 1 if at else 1
        lines[at], lines[other] = lines[other], lines[at]
        wrong = min(at, other) + 1
    elif change == "insert":
        lines.insert(at, b"{}\n")
    elif change == "blank":
        lines.insert(at, b"\n")
    else:
        lines = [*lines[:at], lines[at][:-5]]
    log.write_bytes(b"".join(lines))
    if wrong is None:
        assert verify(log).entries == 4
        return
    with pytest.raises(AuditError, match=rf"line {wrong}\b") as raised:
        verify(log)
    assert raised.value.line == wrong


def test_a_line_whose_hash_was_made_anew_breaks_the_next(log: Path) -> None:
    from laya_rag.http.audit import _line

    lines = log.read_bytes().splitlines(keepends=True)
    entry = json.loads(lines[2])
    del entry["hash"]
    lines[2] = _line({**entry, "caller": "eve"})
    log.write_bytes(b"".join(lines))
    with pytest.raises(AuditError) as raised:
        verify(log)
    assert raised.value.line == 4


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None
)
@given(data=st.data())
def test_no_byte_can_be_changed(log: Path, data: st.DataObject) -> None:
    whole = log.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[place]))
    log.write_bytes(whole[:place] + bytes([other]) + whole[place + 1 :])
    try:
        with pytest.raises(AuditError):
            verify(log)
    finally:
        log.write_bytes(whole)


def test_lines_that_were_cut_off_show_against_a_head(log: Path) -> None:
    noted = heads(log)
    for head in (GENESIS, *noted):
        assert verify(log, head).entries == 5
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:3]))
    assert verify(log, noted[2]).entries == 3
    for head in noted[3:]:
        with pytest.raises(AuditError, match="cut off") as raised:
            verify(log, head)
        assert raised.value.line is None
    log.write_bytes(b"")
    assert verify(log).head == GENESIS
    with pytest.raises(AuditError):
        verify(log, noted[0])


def test_a_broken_log_is_not_continued(log: Path) -> None:
    audit = AuditLog(log)
    whole = log.read_bytes()
    for broken in (whole[:-1], whole + b"{}\n", whole + b"half"):
        log.write_bytes(broken)
        with pytest.raises(AuditError, match="laya audit verify"):
            audit.append(caller="ann")
        assert log.read_bytes() == broken
        with pytest.raises(AuditError):
            AuditLog(log)


def test_a_write_that_fails_leaves_no_half_line(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audit = AuditLog(log)
    whole = log.read_bytes()

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(AuditError, match="No space left"):
        audit.append(caller="ann")
    monkeypatch.undo()
    assert log.read_bytes() == whole
    audit.append(caller="ann")
    assert verify(log).entries == 6


def test_long_entries_are_followed_too(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "log")
    for size in (10, 200_000, 3, 70_000):
        audit.append(details="x" * size)
    assert verify(audit.path).entries == 4


def test_many_writers_make_one_chain(tmp_path: Path) -> None:
    logs = [AuditLog(tmp_path / "log") for _ in range(3)]

    def write(log: AuditLog) -> None:
        for _ in range(10):
            log.append(caller="ann")

    threads = [threading.Thread(target=write, args=[log]) for log in logs * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verify(tmp_path / "log").entries == 60


def test_a_log_that_cannot_be_had(tmp_path: Path) -> None:
    for path in (tmp_path / "none" / "log", tmp_path):
        with pytest.raises(AuditError, match="cannot"):
            AuditLog(path)
    with pytest.raises(AuditError, match="cannot read"):
        verify(tmp_path / "none")


def test_the_command_says_so_and_by_its_exit_code(log: Path, tmp_path: Path) -> None:
    head = heads(log)[-1]
    assert head in said(str(log), code=0)
    shown: Any = json.loads(said(str(log), "--json", "--head", head, code=0))
    assert shown == {"file": str(log), "whole": True, "entries": 5, "head": head}
    assert "cut off" in said(str(log), "--head", "f" * 64, code=1)
    log.write_bytes(log.read_bytes().replace(b'"ann"', b'"eve"'))
    assert "line 1 was changed" in said(str(log), code=1)
    assert json.loads(said(str(log), "--json", code=1))["line"] == 1
    assert "cannot read" in said(str(tmp_path / "none"), code=1)
