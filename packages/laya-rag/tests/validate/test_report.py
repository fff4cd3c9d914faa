from __future__ import annotations

import json
from pathlib import Path

from laya_rag.validate.base import Finding, Row, Verdict, first_of
from laya_rag.validate.report import as_markdown, check_report

ROWS = (
    Row("contracts", Finding("3 chunks", facts={"n": 1}), 1.0),
    Row("pii", Finding("a | b", ("x is in `y`\nand z",)), 2.0),
)
VERDICT = Verdict("coast", "0123", 7, ROWS)


def test_a_verdict_is_as_good_as_its_worst_row() -> None:
    assert not VERDICT.passed
    assert Verdict("coast", "0123", 7, ROWS[:1]).passed


def test_a_report_is_written_and_read_again(tmp_path: Path) -> None:
    finding = check_report(tmp_path / "deep" / "er", VERDICT)
    assert finding.problems == ()
    data = json.loads((tmp_path / "deep" / "er" / "report.json").read_text())
    assert data == {
        "stack": "coast",
        "stack_hash": "0123",
        "seed": 7,
        "passed": False,
        "rows": [
            {
                "check": "contracts",
                "passed": True,
                "detail": "3 chunks",
                "problems": [],
                "facts": {"n": 1},
                "seconds": 1.0,
            },
            {
                "check": "pii",
                "passed": False,
                "detail": "a | b",
                "problems": ["x is in `y`\nand z"],
                "facts": {},
                "seconds": 2.0,
            },
        ],
        "seconds": 3.0,
    }


def test_the_page_has_a_table_and_the_problems() -> None:
    page = as_markdown(VERDICT)
    assert "| pii | FAIL | a \\| b | 2.0 |" in page
    assert page.endswith("- pii: `x is in 'y' and z`\n")


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (only,) = check_report(tmp_path / "file", VERDICT).problems
    assert str(tmp_path / "file") in only


def test_a_place_that_keeps_nothing_is_told() -> None:
    (only,) = check_report(Path("/dev/null/x"), VERDICT).problems
    assert "/dev/null/x" in only


def test_problems_beyond_the_first_five_are_counted() -> None:
    assert first_of([]) == ()
    assert first_of(str(n) for n in range(5)) == ("0", "1", "2", "3", "4")
    assert first_of(str(n) for n in range(9))[-1] == "and 4 more"
