"""The verdict as files: JSON for programs, Markdown for people."""

from __future__ import annotations

import json
from pathlib import Path

from laya_rag.validate.base import Finding, Row, Verdict

JSON, MARKDOWN = "report.json", "report.md"


def check_report(folder: Path, verdict: Verdict) -> Finding:
    """Write the report with every other row, read it again, and compare."""
    try:
        write_report(folder, verdict)
        read = json.loads((folder / JSON).read_text(encoding="utf-8"))
        page = (folder / MARKDOWN).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        return Finding("not written", (f"{folder}: {error}",))
    problems = []
    if read != verdict.as_json():
        problems.append(f"{folder / JSON} does not hold what was written")
    if page != as_markdown(verdict):
        problems.append(f"{folder / MARKDOWN} does not hold what was written")
    return Finding(f"{JSON} and {MARKDOWN} written and read again", tuple(problems))


def write_report(folder: Path, verdict: Verdict) -> None:
    """Write both files into `folder`. Raises `OSError` when that cannot be done."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(verdict.as_json(), ensure_ascii=False, indent=1) + "\n"
    (folder / JSON).write_text(text, encoding="utf-8", newline="\n")
    (folder / MARKDOWN).write_text(as_markdown(verdict), encoding="utf-8", newline="\n")


def as_markdown(verdict: Verdict) -> str:
    """One table, and a list of problems below it."""
    lines = [
        f"# Stack {verdict.stack}: {_word(verdict.passed)}",
        "",
        f"Hash {verdict.stack_hash}, edits drawn with seed {verdict.seed}.",
        "",
        "| check | result | what was seen | seconds |",
        "|---|---|---|---|",
        *(_line(row) for row in verdict.rows),
    ]
    wrong = [
        f"- {row.check}: `{_flat(text)}`" for row in verdict.rows for text in row.finding.problems
    ]
    if wrong:
        lines += ["", "## Problems", "", *wrong]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    detail = _flat(row.finding.detail).replace("|", "\\|")
    return f"| {row.check} | {_word(row.passed)} | {detail} | {row.seconds:.1f} |"


def _word(passed: bool) -> str:
    return "PASS" if passed else "FAIL"


def _flat(text: str) -> str:
    return " ".join(text.replace("`", "'").split())
