"""The command's entry: its subcommands, and what they share.

Each subcommand imports what it needs when it runs, so that `laya --help` answers at once. Other
packages add subcommands of their own: a `typer.Typer` as an entry point of the group
`laya.commands`, whose module is imported when help is shown or the subcommand is called.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup

from laya_rag.cli.adjudicate import adjudicate
from laya_rag.cli.ask import ask
from laya_rag.cli.audit import app as audit
from laya_rag.cli.chunks import chunks
from laya_rag.cli.compose import compose
from laya_rag.cli.config import config
from laya_rag.cli.delete import delete
from laya_rag.cli.doctor import doctor
from laya_rag.cli.documents import documents
from laya_rag.cli.extract import extract
from laya_rag.cli.integrity import integrity
from laya_rag.cli.mcp import mcp
from laya_rag.cli.process import process
from laya_rag.cli.push import push
from laya_rag.cli.search import search
from laya_rag.cli.serve import serve
from laya_rag.cli.stack import app as stack
from laya_rag.cli.stats import stats
from laya_rag.cli.verify import verify

EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 on demand, 130 interrupted."
PLUGINS = "laya.commands"


class PluginGroup(TyperGroup):
    """The subcommands of this package, and those that other packages add by entry points.

    One of ours is never replaced. A plugin that cannot be imported is left out with a warning.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Ours in the order of this file, then the others by name."""
        own = super().list_commands(ctx)
        others = sorted(_plugins().keys() - set(own))
        return [*own, *(name for name in others if self.get_command(ctx, name))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The subcommand of that name, or None."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in _plugins():
            return own
        try:
            command = typer.main.get_command(_plugins()[cmd_name].load())
        except (ImportError, AttributeError) as error:
            typer.echo(f"laya: the command {cmd_name!r} cannot be loaded: {error}", err=True)
            return None
        command.name = cmd_name
        for part in (command, *getattr(command, "commands", {}).values()):
            part.epilog = part.epilog or EXIT_CODES
        return command


def _plugins() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=PLUGINS)}


app = typer.Typer(
    name="laya",
    cls=PluginGroup,
    help="Retrieval that shows its evidence: index documents, then search what they say.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(epilog=EXIT_CODES)(process)
app.command(epilog=EXIT_CODES)(search)
app.command(epilog=EXIT_CODES)(ask)
app.command(epilog=EXIT_CODES)(extract)
app.command(epilog=EXIT_CODES)(verify)
app.command(epilog=EXIT_CODES)(adjudicate)
app.command(epilog=EXIT_CODES)(compose)
app.command(epilog=EXIT_CODES)(stats)
app.command(epilog=EXIT_CODES)(documents)
app.command(epilog=EXIT_CODES)(chunks)
app.command(epilog=EXIT_CODES)(integrity)
app.command(epilog=EXIT_CODES)(delete)
app.command(epilog=EXIT_CODES)(push)
app.command(epilog=EXIT_CODES)(serve)
app.command(epilog=EXIT_CODES)(mcp)
app.command(epilog=EXIT_CODES)(config)
app.command(epilog=EXIT_CODES)(doctor)
app.add_typer(stack, name="stack")
app.add_typer(audit, name="audit")


@app.callback()
def _version(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"laya-rag {installed('laya-rag')}")
        raise typer.Exit
