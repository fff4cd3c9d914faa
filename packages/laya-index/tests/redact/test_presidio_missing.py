"""What `redact.presidio` says where its extra is not installed."""

import sys

import pytest
from laya_index.redact.presidio import PresidioRedactor, _analyzer
from laya_index.stack import parse_stack
from laya_signals.errors import MissingExtraError


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    _analyzer.cache_clear()
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    with pytest.raises(MissingExtraError, match=r"install laya-index\[presidio\]"):
        PresidioRedactor()


def test_a_stack_may_name_it_without_loading_it() -> None:
    parse_stack(
        "name: x\nsource: {provider: source.files}\nredact: {provider: redact.presidio}\n"
        "export: {path: out}\n"
    )
