"""The tables of a page: written between two markers, the same however often."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from laya_eval.bench.machine import described, machine
from laya_eval.bench.report import COMMAND, bench_data, command, markdown, number, summary
from laya_eval.bench.row import Row
from laya_eval.bench.setup import Size
from laya_eval.bench.suite import NAMES, Outcome
from laya_eval.page import replaced

ROWS = [
    Row("search | find", "ms", 1.234, "peer 1.0", 12.34, "same results"),
    Row("search", "ms", 1.234, "other", note="other is not installed; `get it`"),
]
FACTS: dict[str, str | float] = {
    "cpu": "Abacus",
    "cores": 2.0,
    "system": "Linux",
    "python": "3.11.7",
    "numpy": "2.0",
    "laya": "0.1.0",
}


def outcome(**changes: object) -> Outcome:
    given = {"rows": {"query": ROWS}, "machine": FACTS, "size": Size.FULL, "data": None}
    return Outcome(**{**given, **changes})  # type: ignore[arg-type]


def test_a_table_has_the_command_the_machine_and_every_cell() -> None:
    text = markdown(outcome())
    assert text.startswith("Measured by `laya bench query` on Abacus, 2 cores, Linux; Python")
    assert "| search \\| find | 1.23 ms | 12.3 ms | 10.00 | peer 1.0 | same results |" in text
    assert "| search | 1.23 ms |  |  | other | other is not installed; `get it` |" in text


def test_a_summary_has_the_first_comparison_with_each_peer() -> None:
    more = [
        *ROWS,
        Row("search, p95", "ms", 2.0, "peer 1.0", 3.0),
        Row("search", "ms", 2.0, "rival 2", 1.0),
    ]
    head, blank, *table = summary(outcome(rows={"query": more, "ingest": ROWS})).splitlines()
    assert head.startswith("Measured by `laya bench query ingest` on Abacus")
    assert blank == ""
    assert table == [
        "| task | ours | peer's | ratio | peer |",
        "|---|---|---|---|---|",
        "| search \\| find | 1.23 ms | 12.3 ms | 10.00 | peer 1.0 |",
        "| search | 2 ms | 1 ms | 0.50 | rival 2 |",
        "| search \\| find | 1.23 ms | 12.3 ms | 10.00 | peer 1.0 |",
    ]


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, "laya bench query"),
        ({"size": Size.QUICK, "data": "scifact"}, "laya bench query --quick --data scifact"),
        ({"rows": dict.fromkeys(NAMES, ROWS)}, "laya bench"),
    ],
)
def test_the_command_repeats_the_measurement(changes: dict[str, object], wanted: str) -> None:
    assert command(outcome(**changes)) == wanted


def test_the_json_has_what_was_not_measured_as_null() -> None:
    first, second = json.loads(json.dumps(bench_data(outcome())))["rows"]
    assert first["ratio"] == pytest.approx(10)
    assert (second["bench"], second["theirs"], second["ratio"]) == ("query", None, None)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (0.01234, "0.0123 ms"),
        (12.34, "12.3 ms"),
        (1234.5, "1,234 ms"),
        (-3.21, "-3.21 ms"),
    ],
)
def test_numbers_have_three_digits_that_count(value: float | None, text: str) -> None:
    assert number(value, "ms") == text


def test_this_machine_is_described() -> None:
    facts = machine()
    assert facts["cores"] >= 1  # type: ignore[operator]
    assert str(facts["cpu"]) in described(facts)


def test_the_page_of_the_docs_has_a_place_for_the_tables() -> None:
    page = Path(__file__).parents[4] / "docs" / "benchmarks.md"
    text = page.read_text(encoding="utf-8")
    assert "\n\ntable\n\n" in replaced(text, "table\n", page.name, COMMAND)
    assert all(f"| `{name}` |" in text for name in NAMES)
