from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from laya_rag.cli.app import app as laya
from laya_rag.cli.options import CorpusOptions, GateOptions, SearchOptions, shared_options
from laya_rag.cli.stack import app as stack
from typer.models import CommandInfo
from typer.testing import CliRunner


@dataclass(frozen=True)
class Group:
    count: Annotated[int, typer.Option("--count", "-n", help="How many.", min=1)] = 3
    names: Annotated[list[str] | None, typer.Option("--name", help="Who.")] = None


app = typer.Typer()


@app.command()
@shared_options
def show(word: Annotated[str, typer.Argument()], *, loud: bool = False, group: Group) -> None:
    """Show it."""
    typer.echo(f"{word} {loud} {group}")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["a"], "a False Group(count=3, names=None)"),
        (["a", "--loud", "-n", "2"], "a True Group(count=2, names=None)"),
        (["a", "--name", "x", "--name", "y"], "a False Group(count=3, names=['x', 'y'])"),
    ],
)
def test_a_group_s_fields_are_options_of_the_command(arguments: list[str], shown: str) -> None:
    assert CliRunner().invoke(app, arguments).stdout.strip() == shown


def test_the_checks_of_an_option_hold() -> None:
    assert CliRunner().invoke(app, ["a", "--count", "0"]).exit_code == 2


def test_what_was_not_given_leaves_the_settings_alone() -> None:
    for group in (SearchOptions(), GateOptions()):
        assert {value for _, value in group.given.values()} == {None}
    assert GateOptions(no_gate=True).given["--no-gate"] == ("gate.enabled", False)
    assert CorpusOptions().bundle is None


@pytest.mark.parametrize("command", [*laya.registered_commands, *stack.registered_commands])
def test_examples_stand_on_lines_of_their_own(command: CommandInfo) -> None:
    # Markdown joins what no blank line sets apart, and a joined example cannot be copied.
    assert not re.search(r"Examples:\n *\S", inspect.getdoc(command.callback) or "")
