"""Progress over queries."""

from __future__ import annotations

import laya_eval.cli.progress as progress


def test_lines_say_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_LINE_EVERY", 0.0)
    with progress.counting("judging", 2) as advance:
        advance()
        advance()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "judging: 1 of 2" in captured.err
    assert "judging: 2 of 2, 0 s left" in captured.err


def test_quiet_says_nothing(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_LINE_EVERY", 0.0)
    with progress.counting("judging", 1, quiet=True) as advance:
        advance()
    assert capsys.readouterr().err == ""
