"""How `laya gate` gets into `laya`."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from importlib.metadata import EntryPoint

from typer.testing import CliRunner

# `laya_rag.cli` also has the application itself under the name of its module.
host = import_module("laya_rag.cli.app")
runner = CliRunner()


def plugins(monkeypatch, **values):
    found = [EntryPoint(name, value, host.PLUGINS) for name, value in values.items()]
    monkeypatch.setattr(host, "entry_points", lambda group: found)


def test_help_lists_our_commands_first_and_loads_no_numbers():
    code = (
        "import sys, json\n"
        "from laya_rag.cli.app import app\n"
        "from typer.testing import CliRunner\n"
        "said = CliRunner().invoke(app, ['--help']).stdout\n"
        "print(json.dumps([said, sorted(sys.modules)]))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    said, loaded = json.loads(output)
    assert said.index("│ search ") < said.index("│ gate ")
    assert "laya_eval.cli.gate" in loaded
    assert not {"numpy", "pyarrow", "pydantic"} & set(loaded)


def test_the_module_can_be_imported_first():
    subprocess.run([sys.executable, "-c", "import laya_eval.cli.gate"], check=True)


def test_a_plugin_that_cannot_be_imported_breaks_nothing(monkeypatch):
    plugins(monkeypatch, broken="laya_nowhere:app", gate="laya_eval.cli.gate:app")
    done = runner.invoke(host.app, ["--help"])
    assert done.exit_code == 0
    assert " gate " in done.stdout
    assert "'broken' cannot be loaded: No module named 'laya_nowhere'" in done.stderr
    assert runner.invoke(host.app, ["broken"]).exit_code == 2


def test_a_plugin_cannot_take_one_of_our_names(monkeypatch):
    plugins(monkeypatch, search="laya_eval.cli.gate:app")
    assert "Search a bundle" in runner.invoke(host.app, ["search", "--help"]).stdout
    assert runner.invoke(host.app, ["--help"]).stdout.count("│ search ") == 1


def test_every_help_ends_with_the_exit_codes():
    for words in (["gate"], ["gate", "fit"]):
        assert host.EXIT_CODES in runner.invoke(host.app, [*words, "--help"]).stdout
