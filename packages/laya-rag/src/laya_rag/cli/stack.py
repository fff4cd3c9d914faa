"""`laya stack validate`: a stack's components held to their contracts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laya_rag.cli.output import console, fail, print_json, printable, reporting_errors

if TYPE_CHECKING:
    from laya_rag.validate.base import Verdict

app = typer.Typer(
    name="stack",
    help="Check stack files.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A stack file, and its verdict or why there is none."""

    file: Path
    verdict: Verdict | None = None
    error: str = ""

    @property
    def passed(self) -> bool:
        """Whether there is a verdict and it is good."""
        return self.verdict is not None and self.verdict.passed


@app.callback()
def _group() -> None:
    """Keep `validate` a subcommand although it is the only one."""


@app.command(epilog="Exit codes: 0 every row passed, 1 one failed, 2 wrong usage, 130 interrupted.")
@reporting_errors
def validate(
    stacks: Annotated[
        list[Path],
        typer.Argument(help="Stack files.", exists=True, dir_okay=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write report.json and report.md here; with several stacks, to DIR/NAME each."
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="Override a setting: stage.key=value.", metavar="KEY=VALUE"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random edits.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Run the components of each stack on a small corpus with planted personal data.

    The stack's own documents are not read and its bundle is not touched. One row each says whether
    the bundle keeps its contracts, answers questions, holds no personal data, and comes out byte
    for byte the same in a fresh run, with workers, killed and resumed, and after random edits.

    Examples:

        laya stack validate stacks/*.yaml
        laya stack validate stacks/default.yaml --set chunk.chars=800 --out report

    """  # noqa: D412
    outcomes = []
    for file in stacks:
        outcome = _validated(file, out, sets or [], seed, several=len(stacks) > 1, quiet=quiet)
        outcomes.append(outcome)
        if not as_json and outcome.verdict is not None:
            _print(outcome.verdict)
    if as_json:
        print_json({"stacks": [_as_json(outcome) for outcome in outcomes]})
    for outcome in outcomes:
        if outcome.error:
            fail(outcome.error)
    if not all(outcome.passed for outcome in outcomes):
        raise typer.Exit(1)


def _validated(
    file: Path, out: Path | None, sets: list[str], seed: int, *, several: bool, quiet: bool
) -> Outcome:
    from laya_index.errors import IndexingError
    from laya_index.stack import load_stack
    from laya_signals.errors import SignalError

    from laya_rag.cli.progress import Lines, Quiet, Steps
    from laya_rag.validate.run import CHECKS, validate_stack

    try:
        stack = load_stack(file, sets=sets)
        name = stack.model.name
        place = out if out is None or not several else out / name
        screen = console(stderr=True)
        reporter = (
            Quiet(screen, name)
            if quiet
            else Steps(screen, name, len(CHECKS))
            if screen.is_terminal
            else Lines(screen, name)
        )
        with reporter as progress:
            return Outcome(file, validate_stack(stack, out=place, seed=seed, progress=progress))
    except (IndexingError, SignalError) as error:
        return Outcome(file, error=str(error))


def _print(verdict: Verdict) -> None:
    from rich.table import Table
    from rich.text import Text

    screen = console()
    table = Table(box=None, pad_edge=False, show_header=False, title_justify="left")
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    for row in verdict.rows:
        word = Text("PASS", style="green") if row.passed else Text("FAIL", style="bold red")
        said = [row.finding.detail] if row.passed else row.finding.problems
        table.add_row(row.check, word, printable("\n".join(said)), f"{row.seconds:.1f}s")
    screen.print(Text(f"{verdict.stack}: {'PASS' if verdict.passed else 'FAIL'}", style="bold"))
    screen.print(table)


def _as_json(outcome: Outcome) -> dict[str, Any]:
    about: dict[str, Any] = {"file": str(outcome.file), "passed": outcome.passed}
    if outcome.verdict is None:
        return {**about, "error": outcome.error, "rows": []}
    return {**about, **outcome.verdict.as_json()}
