"""An adapter without its framework."""

import importlib
import sys

import pytest
from laya_signals import MissingExtraError


@pytest.mark.parametrize(
    ("adapter", "framework", "extra"),
    [
        ("langchain", "langchain_core", "langchain"),
        ("llama_index", "llama_index", "llama-index"),
        ("haystack", "haystack", "haystack"),
    ],
)
def test_the_error_names_the_extra(monkeypatch, adapter, framework, extra):
    loaded = [name for name in sys.modules if name.partition(".")[0] == framework]
    for name in loaded:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, framework, None)
    monkeypatch.delitem(sys.modules, f"laya_retrieval.adapters.{adapter}", raising=False)
    with pytest.raises(MissingExtraError, match=rf"laya-retrieval\[{extra}\]"):
        importlib.import_module(f"laya_retrieval.adapters.{adapter}")
