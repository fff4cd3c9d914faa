import ast
import importlib
import inspect
import subprocess
import sys

import laya_index
import pytest
from laya_index import errors


def test_all_names_exactly_what_the_module_offers() -> None:
    tree = ast.parse(inspect.getsource(laya_index))
    (typed,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in typed.body if isinstance(node, ast.ImportFrom)]
    # What a type checker sees is what there is at run time.
    assert {
        alias.name: node.module for node in imports for alias in node.names
    } == laya_index._HOMES
    assert list(laya_index.__all__) == sorted(laya_index._HOMES)
    assert set(laya_index.__all__) < set(dir(laya_index))


@pytest.mark.parametrize("name", laya_index.__all__)
def test_every_exported_name_is_its_module_s(name: str) -> None:
    home = importlib.import_module(laya_index._HOMES[name])
    assert getattr(laya_index, name) is getattr(home, name)


def test_what_is_not_exported_is_not_there() -> None:
    with pytest.raises(AttributeError, match="'laya_index' has no attribute 'nothing'"):
        laya_index.nothing  # noqa: B018
    with pytest.raises(ImportError, match="nothing"):
        from laya_index import nothing  # noqa: F401


def run(code: str) -> str:
    """What `code` prints in a Python of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return done.stdout.strip()


@pytest.mark.parametrize("name", ["process", "delete"])
def test_a_function_is_not_hidden_by_the_submodule_of_its_name(name: str) -> None:
    code = f"import laya_index.{name}; from laya_index import {name}; print(type({name}).__name__)"
    assert run(code) == "function"
    code = f"from laya_index import {name}; import laya_index.{name}; print(laya_index.{name})"
    assert run(code).startswith(f"<function {name} at")


def test_reading_a_bundle_loads_nothing_that_makes_one() -> None:
    code = "import sys; from laya_index import BundleReader; print(*sys.modules)"
    loaded = set(run(code).split())
    assert "laya_index.bundle.reader" in loaded
    assert loaded & {"laya_index.process", "laya_index.stack", "rustworkx", "lxml", "yaml"} == set()


@pytest.mark.parametrize("name", laya_index.__all__)
def test_every_exported_name_is_documented(name: str) -> None:
    member = getattr(laya_index, name)
    assert inspect.getdoc(member)
    assert member.__doc__ != object.__doc__
    if inspect.isclass(member):
        for method, value in vars(member).items():
            if inspect.isfunction(value) and not method.startswith("_"):
                assert inspect.getdoc(value), f"{name}.{method}"


def test_every_error_is_exported_and_drawn_in_the_tree() -> None:
    classes = {
        name: value
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, Exception)
    }
    assert set(classes) <= set(laya_index.__all__)
    assert errors.__doc__ is not None
    for name, value in classes.items():
        assert name in errors.__doc__
        assert issubclass(value, errors.IndexingError)
