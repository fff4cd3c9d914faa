"""What the documentation says is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.core
import typer.main
from laya_index.stack import Stack, parse_stack
from laya_rag.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```(?P<language>\w+)[^\n]*\n(?P<body>.*?)^```", re.M | re.S)
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.M | re.S)
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\((?P<target>[^)#\s]+)(?:#[^)]*)?\)")


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return [match["body"] for match in BLOCK.finditer(text) if match["language"] == language]


def commands() -> dict[str, typer.core.TyperCommand]:
    """Every command by its words, those of plugins and of their groups too."""
    group = typer.main.get_command(app)
    return dict(walk(group, typer.Context(group), ""))


def walk(
    group: typer.core.TyperGroup, context: typer.Context, before: str
) -> Iterator[tuple[str, typer.core.TyperCommand]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, typer.core.TyperGroup):
            yield from walk(command, context, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__docs__"}
    for number, body in enumerate(blocks(page, "python"), start=1):
        exec(compile(body, f"{page.name}, block {number}", "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_stacks_of_a_page_are_valid(page: Path) -> None:
    for body in blocks(page, "yaml"):
        if body.startswith("name:"):
            assert isinstance(parse_stack(body, page.name), Stack)


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("adr/*.md")], ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for match in LINK.finditer(CODE.sub("", page.read_text(encoding="utf-8"))):
        if "://" not in match["target"]:
            assert (page.parent / match["target"]).exists(), match["target"]


def test_every_command_and_option_is_documented() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for name, command in commands().items():
        section = page.partition(f"## `laya {name}")[2].partition("\n## ")[0]
        assert section, f"docs/command-line.md has no section on laya {name}"
        for parameter in command.params:
            if parameter.param_type_name == "option" and parameter.name != "help":
                assert f"`{parameter.opts[0]}" in section, f"laya {name}: {parameter.opts[0]}"


def test_every_command_and_option_has_a_help_text() -> None:
    for name, command in commands().items():
        assert command.help, name
        assert "Examples:" in command.help, name
        for parameter in command.params:
            assert getattr(parameter, "help", ""), f"laya {name}: {parameter.name}"


def masked(output: str) -> str:
    """Output without what differs from run to run: times, counts, widths."""
    without_times = re.sub(r", [a-z0-9_]+ \d+\.\d s", "", output)
    return " ".join(re.sub(r"\d+", "#", without_times).split())


@pytest.mark.slow
def test_the_tour_shows_what_the_commands_print() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    tour = text.partition("## A tour")[2].partition("```console\n")[2].partition("```")[0]
    steps = re.findall(r"^\$ uv run (laya [^\n]+)\n(.*?)(?=^\$ |\Z)", tour, re.M | re.S)
    assert len(steps) == 4
    scripts = Path(sys.executable).parent
    for command, shown in steps:
        done = subprocess.run(
            f"{scripts}/{command}",
            shell=True,
            cwd=ROOT,
            env={**os.environ, "COLUMNS": "80"},
            capture_output=True,
            text=True,
            check=True,
        )
        # The bundle may be there already; what it holds is the same.
        printed, wanted = (
            masked(part).replace("unchanged", "built") for part in (done.stdout, shown)
        )
        assert printed == wanted, command
