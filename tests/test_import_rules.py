"""Arrows between packages only point down, and light packages stay light."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[1] / "packages"
MAY_IMPORT = {
    "laya_mini": set(),
    "laya_signals": {"laya_mini"},
    "laya_index": {"laya_signals"},
    "laya_retrieval": {"laya_signals"},
    "laya_rag": {"laya_signals", "laya_mini", "laya_index", "laya_retrieval"},
    "laya_eval": {"laya_signals", "laya_mini", "laya_index", "laya_retrieval", "laya_rag"},
}
# What the light packages may never load when they are imported.
HEAVY = {
    *("pyarrow", "duckdb", "torch", "transformers", "sentence_transformers", "onnxruntime"),
    *("tokenizers", "fastapi", "starlette", "uvicorn", "mcp", "qdrant_client", "lancedb", "ray"),
    *("langchain_core", "llama_index", "haystack", "networkx", "neo4j", "scipy", "pandas"),
}


def modules(package: str) -> list[Path]:
    source = PACKAGES / package.replace("_", "-") / "src" / package
    return sorted(source.rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_those_below_it(package: str) -> None:
    assert modules(package), f"no modules of {package} found"
    for module in modules(package):
        ours = {
            name
            for name in imported(ast.parse(module.read_text(encoding="utf-8")))
            if name.startswith("laya_") or name == "laya"
        }
        assert ours <= MAY_IMPORT[package] | {package}, module


@pytest.mark.parametrize("package", ["laya_signals", "laya_retrieval", "laya_mini"])
def test_importing_a_light_package_loads_nothing_heavy(package: str) -> None:
    code = f"import sys, json, {package}; print(json.dumps(sorted(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    loaded = {name.split(".")[0] for name in json.loads(output)}
    assert loaded & HEAVY == set()


def test_no_module_of_a_light_package_imports_something_heavy_at_its_top() -> None:
    for package in ("laya_signals", "laya_retrieval", "laya_mini"):
        for module in modules(package):
            if "adapters" in module.parts:
                continue  # each is asked for by name, and then needs its framework
            top = ast.parse(module.read_text(encoding="utf-8")).body
            names = {
                name
                for node in top
                if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.If)
                for name in imported(node)
            }
            assert names & HEAVY == set(), module


def test_help_loads_nothing_heavy() -> None:
    code = "import sys, json, laya_rag.cli.app; print(json.dumps(sorted(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    loaded = {name.split(".")[0] for name in json.loads(output)}
    assert loaded & (HEAVY | {"numpy"}) == set()


def test_the_reference_implementation_is_not_in_the_environment() -> None:
    # PyPI's `laya` installs a console script of the same name as ours.
    lock = (PACKAGES.parent / "uv.lock").read_text(encoding="utf-8")
    assert '\nname = "laya"\n' not in lock
