"""`laya process`: documents to bundles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laya_rag.cli.output import console, fail, print_json, printable, reporting_errors, size

if TYPE_CHECKING:
    from laya_index.process import RunReport
    from laya_index.stack import Stack


@dataclass(frozen=True, slots=True)
class Outcome:
    """A stack file, and its report or why it failed."""

    file: Path
    report: RunReport | None = None
    error: str = ""


@reporting_errors
def process(
    stacks: Annotated[
        list[Path],
        typer.Argument(help="Stack files.", exists=True, dir_okay=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Write the bundle here; with several stacks, to DIR/NAME each."),
    ] = None,
    root: Annotated[
        Path | None, typer.Option(help="Index this folder with a source.files stack.")
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="Override a setting: stage.key=value.", metavar="KEY=VALUE"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Worker processes; by default as many as pay off.", min=1)
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Compute everything afresh; the bytes are the same.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would change; write nothing.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Build or update the bundle of each stack.

    A second run only computes what changed and says "unchanged" when nothing did; the bundle is
    byte for byte the one that a fresh run builds. If a stack fails, the others are still built.

    Examples:

        laya process stacks/*.yaml
        laya process stacks/default.yaml --root ~/notes --out ~/notes-bundle
        laya process stacks/default.yaml --set chunk.chars=800 --dry-run

    """  # noqa: D412
    outcomes = _run_all(
        stacks, out, root, sets or [], workers=workers, full=full, dry_run=dry_run, quiet=quiet
    )
    if as_json:
        print_json({"stacks": [_as_json(outcome) for outcome in outcomes]})
    else:
        _print_table(outcomes)
    for outcome in outcomes:
        if outcome.error:
            fail(outcome.error)
    if any(outcome.error for outcome in outcomes):
        raise typer.Exit(1)


def _run_all(
    files: list[Path],
    out: Path | None,
    root: Path | None,
    sets: list[str],
    *,
    workers: int | None,
    full: bool,
    dry_run: bool,
    quiet: bool,
) -> list[Outcome]:
    from laya_index.errors import IndexingError
    from laya_index.process import process as run
    from laya_index.stack import load_stack
    from laya_signals.errors import SignalError

    from laya_rag.cli.progress import Bars, Lines, Quiet

    screen = console(stderr=True)
    outcomes: list[Outcome] = []
    taken: dict[Path, Path] = {}
    for file in files:
        try:
            stack = load_stack(file, sets=sets, root=root, out=out)
            if out is not None and len(files) > 1:
                stack = load_stack(file, sets=sets, root=root, out=out / stack.model.name)
            _claim(stack, file, taken)
            kind = Quiet if quiet else Bars if screen.is_terminal else Lines
            with kind(screen, stack.model.name) as progress:
                report = run(stack, workers=workers, full=full, dry_run=dry_run, progress=progress)
            outcomes.append(Outcome(file, report))
        except (IndexingError, SignalError) as error:
            outcomes.append(Outcome(file, error=str(error)))
    return outcomes


def _claim(stack: Stack, file: Path, taken: dict[Path, Path]) -> None:
    """Refuse two stacks of one run that would write the same bundle."""
    from laya_index.errors import StackError

    path = stack.model.export.path.resolve()
    if path in taken:
        raise StackError(f"{file}: writes the same bundle as {taken[path]}: {path}")
    taken[path] = file


def _print_table(outcomes: list[Outcome]) -> None:
    from rich.table import Table
    from rich.text import Text

    screen = console()
    table = Table(box=None, pad_edge=False)
    table.add_column("stack", no_wrap=True)
    table.add_column("state", no_wrap=True)
    for name in ("docs", "chunks", "added", "changed", "same", "removed", "time"):
        table.add_column(name, justify="right")
    for outcome in outcomes:
        report = outcome.report
        if report is None:
            table.add_row(printable(outcome.file.stem), Text("failed", style="red"))
            continue
        counts = (
            report.documents,
            report.chunks,
            report.added,
            report.changed,
            report.unchanged,
            report.removed,
        )
        seconds = f"{report.seconds['total']:.1f}s"
        table.add_row(report.stack, report.state, *map(str, counts), seconds)
    screen.print(table)
    for outcome in outcomes:
        if outcome.report is not None:
            for line in _details(outcome.report):
                screen.print(f"{outcome.report.stack}: {printable(line)}", soft_wrap=True)


def _details(report: RunReport) -> Iterator[str]:
    """What does not fit the table: the bundle, time by stage, what was left out or replaced."""
    stages = [(k, v) for k, v in report.seconds.items() if k != "total" and v >= 0.05]
    spent = "".join(f", {name} {seconds:.1f} s" for name, seconds in stages)
    total = f" ({size(report.bytes)})" if report.bytes else ""
    yield f"{report.path}{total}{spent}"
    for label, counts in (("skipped", report.skipped), ("redacted", report.redactions)):
        if counts:
            yield f"{label} " + ", ".join(f"{count} {name}" for name, count in counts.items())
    if not report.documents:
        yield "no documents; check the source's root and patterns"


def _as_json(outcome: Outcome) -> dict[str, Any]:
    report = outcome.report
    if report is None:
        return {"file": str(outcome.file), "state": "failed", "error": outcome.error}
    return {
        "file": str(outcome.file),
        "stack": report.stack,
        "state": report.state,
        "bundle": str(report.path),
        "bytes": report.bytes,
        "documents": report.documents,
        "chunks": report.chunks,
        "added": report.added,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "skipped": report.skipped,
        "skips": [
            {"document": skip.id, "reason": skip.reason, "detail": skip.detail}
            for skip in report.skips
        ],
        "redactions": report.redactions,
        "seconds": {name: round(value, 3) for name, value in report.seconds.items()},
    }
