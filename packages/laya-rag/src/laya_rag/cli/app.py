"""The command's entry: its subcommands, and what they share.

Each subcommand imports what it needs when it runs, so that `laya --help` answers at once.
"""

from __future__ import annotations

import typer

from laya_rag.cli.process import process
from laya_rag.cli.search import search

EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted."

app = typer.Typer(
    name="laya",
    help="Retrieval that shows its evidence: index documents, then search what they say.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(epilog=EXIT_CODES)(process)
app.command(epilog=EXIT_CODES)(search)


@app.callback()
def _version(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"laya-rag {installed('laya-rag')}")
        raise typer.Exit
