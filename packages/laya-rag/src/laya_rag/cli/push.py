"""`laya push`: a bundle into a store of your own."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from laya_rag.cli.finding import DEFAULT_BUNDLE, JsonOption
from laya_rag.cli.output import console, print_json, printable, reporting_errors

if TYPE_CHECKING:
    from laya_index.process import Progress
    from rich.console import Console
    from rich.progress import Progress as RichProgress


@reporting_errors
def push(
    to: Annotated[
        str,
        typer.Option(
            help="Where to: qdrant://HOST:PORT/NAME, qdrant+https://HOST:PORT/NAME, "
            "qdrant:///FOLDER/NAME or lancedb:///FOLDER/NAME.",
            metavar="ADDRESS",
        ),
    ],
    bundle: Annotated[Path, typer.Argument(help="The bundle's folder.")] = DEFAULT_BUNDLE,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a bundle to Qdrant or LanceDB, for who outgrows one machine.

    Everything goes into a new collection or new tables, and then NAME is switched to them, so that
    nobody ever searches half a corpus; what was there before is removed. A push that was cut short
    is continued, and one of a bundle that is there already does nothing. The key of a Qdrant server
    is read from the environment variable LAYA_QDRANT_API_KEY.

    Examples:

        laya push .laya/notes --to qdrant://localhost:6333/notes
        laya push .laya/notes --to lancedb:///srv/lance/notes --json

    """  # noqa: D412
    from laya_rag.backend.push import push as send
    from laya_rag.backend.store import parse_target

    target = parse_target(to)
    with _progress(console(stderr=True), quiet=quiet) as progress:
        report = send(bundle, target, progress=progress)
    if as_json:
        print_json(
            {
                "target": report.target,
                "identity": report.identity,
                "state": report.state,
                "rows": dict(report.rows),
                "written": dict(report.written),
                "removed": list(report.removed),
            }
        )
        return
    screen = console()
    rows = ", ".join(f"{count} {kind}" for kind, count in report.rows.items())
    screen.print(f"{report.state}: {rows} in {printable(report.target)}", soft_wrap=True)
    before = sum(report.rows.values()) - sum(report.written.values())
    if report.state == "pushed" and before:
        screen.print(f"{before} rows were there from a push that was cut short", style="dim")
    for name in report.removed:
        screen.print(f"removed {printable(name)}", style="dim", soft_wrap=True)


def _progress(screen: Console, *, quiet: bool) -> AbstractContextManager[Progress | None]:
    if quiet:
        return nullcontext(None)
    return _Bars(screen) if screen.is_terminal else nullcontext(_Lines(screen))


class _Bars:
    """One bar for each kind of rows."""

    def __init__(self, screen: Console) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        text = TextColumn("{task.description}")
        columns = (text, BarColumn(), MofNCompleteColumn(), Remaining())
        self._progress: RichProgress = Progress(*columns, console=screen, transient=True)

    def __enter__(self) -> _Bars:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def stage(self, name: str, total: int | None) -> None:
        """Begin the next bar."""
        for task in self._progress.task_ids:
            self._progress.remove_task(task)
        self._progress.add_task(name, total=total)

    def advance(self, documents: int, chunks: int) -> None:  # noqa: ARG002 - rows are counted once
        """Move the bar by so many rows."""
        for task in self._progress.task_ids:
            self._progress.update(task, advance=documents)


class _Lines:
    """A line when a kind of rows begins."""

    def __init__(self, screen: Console) -> None:
        self._screen = screen

    def stage(self, name: str, total: int | None) -> None:
        """Name it."""
        self._screen.print(name if total is None else f"{name}: {total} rows")

    def advance(self, documents: int, chunks: int) -> None:
        """Do nothing."""
