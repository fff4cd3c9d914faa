"""The example of the page on gates, rerun and written into a page."""

from __future__ import annotations

from pathlib import Path

import pytest
from laya_eval.errors import PageError
from laya_eval.page import markers, replaced
from laya_eval.study.squad_gate import COMMAND, main


def run(study_data, stack, out, *more):
    fixed = ["--out", str(out), "--stack", str(stack), "--resamples", "20"]
    main([str(study_data / "squad2_dev"), *fixed, *more])


def test_both_sets_of_labels_have_both_splits(study_data, lexical_stack, tmp_path, capsys):
    run(study_data, lexical_stack, tmp_path / "out")
    rows = capsys.readouterr().out.splitlines()
    assert [row.split(" | ")[:2] for row in rows[2:]] == [
        ["| half: 24 questions, 12 answerable", "random"],
        ["| ", "whole articles held out"],
        ["| all: 28 questions, 24 answerable", "random"],
        ["| ", "whole articles held out"],
    ]
    assert all(len(row.split("|")) == 10 for row in rows)


def test_a_page_gets_the_table(study_data, lexical_stack, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("\n".join(markers(COMMAND)))
    run(study_data, lexical_stack, tmp_path / "out", "--write", str(page))
    assert page.read_text().count("whole articles held out") == 2


def test_a_page_without_markers_is_refused_before_anything_is_made(
    study_data, lexical_stack, tmp_path
):
    page = tmp_path / "page.md"
    page.write_text("nothing")
    with pytest.raises(PageError, match="no place"):
        run(study_data, lexical_stack, tmp_path / "out", "--write", str(page))
    assert not (tmp_path / "out").exists()


def test_the_page_of_the_docs_has_a_place_for_the_table():
    page = Path(__file__).parents[4] / "docs" / "gates.md"
    text = page.read_text(encoding="utf-8")
    assert "\n\ntable\n\n" in replaced(text, "table\n", page.name, COMMAND)
