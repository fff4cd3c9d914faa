"""What was measured as a table, as JSON, and as a block of a Markdown page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from laya_eval.bench.machine import described
from laya_eval.bench.row import Row
from laya_eval.bench.setup import Size
from laya_eval.bench.suite import NAMES, Outcome
from laya_eval.markdown import markdown_table

#: Whose tables a page's markers hold.
COMMAND = "laya bench"
HEADER = ("task", "ours", "peer's", "ratio", "peer", "note")


def cells(row: Row) -> list[str]:
    """A row under `HEADER`."""
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    return [
        row.task,
        number(row.ours, row.unit),
        number(row.theirs, row.unit),
        ratio,
        row.peer,
        row.note,
    ]


def number(value: float | None, unit: str) -> str:
    """Three digits that count, and the unit; nothing for None."""
    if value is None:
        return ""
    digits = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{digits} {unit}"


def command(outcome: Outcome) -> str:
    """What to type for the same measurement; the data folder by its last name alone."""
    names = [] if tuple(outcome.rows) == NAMES else list(outcome.rows)
    parts = ["laya bench", *names]
    if outcome.size is Size.QUICK:
        parts.append("--quick")
    if outcome.data is not None:
        parts.append(f"--data {outcome.data}")
    return " ".join(parts)


def bench_data(outcome: Outcome) -> dict[str, Any]:
    """The schema of `--json`."""
    return {
        "command": command(outcome),
        "machine": outcome.machine,
        "size": outcome.size.value,
        "data": outcome.data,
        "rows": [
            {
                "bench": name,
                "task": row.task,
                "unit": row.unit,
                "ours": row.ours,
                "peer": row.peer or None,
                "theirs": row.theirs,
                "ratio": row.ratio,
                "note": row.note,
            }
            for name, rows in outcome.rows.items()
            for row in rows
        ],
    }


def markdown(outcome: Outcome) -> str:
    """A section with its command, the machine, and a table for each benchmark."""
    lines = [f"Measured by `{command(outcome)}` on {described(outcome.machine)}"]
    for name, rows in outcome.rows.items():
        lines += ["", f"### {name}", "", markdown_table([HEADER, *map(_escaped, rows)])]
    return "\n".join(lines) + "\n"


def summary(outcome: Outcome) -> str:
    """One table of the first comparison of each benchmark with each of its peers."""
    table: list[Sequence[str]] = [HEADER[:-1]]  # all but the note
    for rows in outcome.rows.values():
        seen: set[str] = set()
        for row in rows:
            if row.ratio is not None and row.peer not in seen:
                seen.add(row.peer)
                table.append(_escaped(row)[:-1])
    measured = f"Measured by `{command(outcome)}` on {described(outcome.machine)}"
    return f"{measured}\n\n{markdown_table(table)}\n"


def _escaped(row: Row) -> list[str]:
    return [cell.replace("|", "\\|") for cell in cells(row)]
