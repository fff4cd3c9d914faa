from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from laya_rag.cli.options import CorpusOptions, GateOptions, SearchOptions, shared_options
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
