import inspect
import types

import laya_index
import pytest
from laya_index import errors


def test_all_names_exactly_what_the_module_offers() -> None:
    offered = {
        name
        for name, value in vars(laya_index).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert set(laya_index.__all__) == offered
    assert list(laya_index.__all__) == sorted(laya_index.__all__)


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
