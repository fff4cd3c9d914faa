"""The public namespace."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
import typing

import laya_retrieval
import pytest

SUBPACKAGES = ["fuse", "gate", "graph", "process", "retrieve"]
# Aliases of types and instances carry no docstring of their own.
WITHOUT_DOC = {"Legs", "retrieval"}


@pytest.mark.parametrize("name", SUBPACKAGES)
def test_what_a_subpackage_exports_the_package_exports(name):
    module = importlib.import_module(f"laya_retrieval.{name}")
    assert set(module.__all__) <= set(laya_retrieval.__all__)


def test_all_is_sorted_complete_and_real():
    assert laya_retrieval.__all__ == sorted(laya_retrieval.__all__)
    assert len(set(laya_retrieval.__all__)) == len(laya_retrieval.__all__)
    public = {
        name
        for name, value in vars(laya_retrieval).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert public == set(laya_retrieval.__all__)


def test_every_error_is_exported_and_drawn_in_the_tree():
    from laya_retrieval import errors

    names = {n for n, v in vars(errors).items() if inspect.isclass(v)}
    assert names <= set(laya_retrieval.__all__)
    assert all(name in (errors.__doc__ or "") for name in names)


@pytest.mark.parametrize("name", sorted(set(laya_retrieval.__all__) - WITHOUT_DOC))
def test_every_public_name_is_documented(name):
    value = getattr(laya_retrieval, name)
    if typing.get_origin(value) is not None:
        return
    assert inspect.getdoc(value), name
    if not inspect.isclass(value) or issubclass(value, Exception):
        return
    for member, function in vars(value).items():
        if member.startswith("_") or member in ("Config", "config"):
            continue
        if inspect.isroutine(function) or isinstance(function, property | classmethod):
            assert inspect.getdoc(getattr(value, member)), f"{name}.{member}"


def test_every_module_has_a_docstring():
    for module in pkgutil.walk_packages(laya_retrieval.__path__, "laya_retrieval."):
        if module.name.startswith("laya_retrieval.adapters."):
            continue
        assert importlib.import_module(module.name).__doc__, module.name


def test_importing_pulls_in_nothing_heavy():
    heavy = "pyarrow duckdb torch onnxruntime tokenizers networkx neo4j sentence_transformers"
    code = (
        "import sys, laya_retrieval, laya_retrieval.testing; "
        f"print([m for m in '{heavy}'.split() if m in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
    assert answer.stderr == ""
