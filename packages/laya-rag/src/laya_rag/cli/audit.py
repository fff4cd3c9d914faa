"""`laya audit verify`: whether the log of a server's changes is whole."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from laya_rag.cli.finding import JsonOption
from laya_rag.cli.output import counted, fail, print_json, reporting_errors

app = typer.Typer(
    name="audit",
    help="Check the log of what `laya serve` changed.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


@app.callback()
def _group() -> None:
    """Keep `verify` a subcommand although it is the only one."""


@app.command(
    epilog="Exit codes: 0 the log is whole, 1 it is not or cannot be read, 2 wrong usage, "
    "130 interrupted."
)
@reporting_errors
def verify(
    file: Annotated[Path, typer.Argument(help="The log that `laya serve --audit` wrote.")],
    head: Annotated[
        str | None,
        typer.Option(
            help="A head that was noted earlier; says too whether lines up to it are missing.",
            metavar="HASH",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check that no line of an audit log was changed, taken out or put in.

    Each line has the hash of the one before it, so the first that does not fit is named. Lines cut
    off at the end leave nothing behind: they show only against a head that was noted before. The
    head of now is printed; keep it where whoever can write the log cannot.

    Examples:

        laya audit verify changes.jsonl
        laya audit verify changes.jsonl --head "$(cat head.txt)"

    """  # noqa: D412
    from laya_rag.http.audit import AuditError
    from laya_rag.http.audit import verify as check

    try:
        state = check(file, head)
    except AuditError as error:
        if as_json:
            problem = {"whole": False, "line": error.line, "problem": str(error)}
            print_json({"file": str(file), **problem})
        else:
            fail(str(error))
        raise typer.Exit(1) from error
    if as_json:
        print_json({"file": str(file), "whole": True, "entries": state.entries, "head": state.head})
    else:
        typer.echo(f"whole: {counted(state.entries, 'line')}, head {state.head}")
