from importlib.metadata import entry_points

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
    assert names == ["tokenizer.regex", "tokenizer.whitespace", "tokenizer.word"]
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
