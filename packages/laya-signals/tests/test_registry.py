import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from laya_signals import ConfigError, Encoder, Registry, RegistryError, Tokenizer, signals
from laya_signals.tokenize.word import WordTokenizer


def test_a_block_becomes_its_component() -> None:
    built = signals.resolve(
        {"provider": "tokenizer.word", "config": {"stem": "english"}}, Tokenizer
    )
    assert isinstance(built, WordTokenizer)
    assert built.config.stem == "english"
    assert signals.resolve({"provider": "tokenizer.word"}, Tokenizer).tokenize("A b") == ["a", "b"]


def test_every_declared_tokenizer_is_one() -> None:
    names = [name for name in signals.names() if name.startswith("tokenizer.")]
    assert names == [f"tokenizer.{kind}" for kind in ("lucene", "regex", "whitespace", "word")]
    for name in names:
        signals.resolve({"provider": name}, Tokenizer)


def test_names_are_those_of_the_entry_points() -> None:
    groups = ("laya.index", "laya.signals")
    declared = {entry.name for group in groups for entry in entry_points(group=group)}
    assert Registry(*groups).names() == sorted(declared)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tokenizer.wrod", "unknown provider 'tokenizer.wrod'; did you mean 'tokenizer.word'?"),
        ("zzz", "unknown provider 'zzz'; known are .*tokenizer.word"),
    ],
)
def test_an_unknown_provider_is_answered_with_known_ones(name: str, message: str) -> None:
    with pytest.raises(RegistryError, match=message.replace("?", r"\?")):
        signals.resolve({"provider": name}, Tokenizer)


def test_a_group_without_providers_says_so() -> None:
    with pytest.raises(RegistryError, match="known are none"):
        Registry("laya.no-such-group").load("x")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"provider": "tokenizer.word", "confg": {}}, "unknown key 'confg'"),
        ({"config": {}}, "provider: Field required"),
        ({"provider": "tokenizer.word", "config": []}, "config"),
    ],
)
def test_what_is_no_block_is_refused(block: dict, message: str) -> None:
    with pytest.raises(RegistryError, match=message):
        signals.resolve(block, Tokenizer)


def test_a_component_of_another_seam_is_refused_when_it_is_wired() -> None:
    with pytest.raises(RegistryError, match="builds a WordTokenizer, which is no Encoder"):
        signals.resolve({"provider": "tokenizer.word"}, Encoder)


def test_wrong_settings_are_refused_when_it_is_wired() -> None:
    with pytest.raises(ConfigError, match="unknown key 'stemm'"):
        signals.resolve({"provider": "tokenizer.word", "config": {"stemm": "x"}}, Tokenizer)


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "laya_own_provider.py").write_text(
        "from laya_signals.tokenize.whitespace import WhitespaceTokenizer\n"
        "class Own(WhitespaceTokenizer): pass\n"
        "def function(config): raise AssertionError('called')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    monkeypatch.delitem(sys.modules, "laya_own_provider", raising=False)
    return "laya_own_provider"


def test_a_component_of_ones_own_is_named_by_its_path(own_module: str) -> None:
    block = {"provider": f"{own_module}:Own", "config": {"lower": False}}
    built = signals.resolve(block, Tokenizer)
    assert type(built).__name__ == "Own"
    assert built.tokenize("A b") == ["A", "b"]
    assert signals.resolve({"provider": f"{own_module}:Own"}, Tokenizer).tokenize("A") == ["a"]
    assert f"{own_module}:Own" not in signals.names()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no_such_module:X", "cannot be imported: No module named 'no_such_module'"),
        (":X", "cannot be imported"),
        ("laya_own_provider:", "cannot be imported"),
        ("laya_own_provider:Absent", "cannot be imported: .*Absent"),
        ("laya_own_provider:function", "is no subclass of laya_signals.Component"),
        ("subprocess:Popen", "is no subclass of laya_signals.Component"),
    ],
)
def test_a_path_that_leads_to_no_component_is_refused(
    own_module: str, path: str, message: str
) -> None:
    with pytest.raises(RegistryError, match=message):
        signals.resolve({"provider": path}, Tokenizer)


def test_a_component_by_path_must_fit_the_seam_too(own_module: str) -> None:
    with pytest.raises(RegistryError, match="builds a Own, which is no Encoder"):
        signals.resolve({"provider": f"{own_module}:Own"}, Encoder)
