import hashlib
import pickle
from typing import Any

import pytest
from laya_signals import Component, ComponentConfig, ConfigError
from laya_signals.component import fingerprint_of
from pydantic import Field


class GreeterConfig(ComponentConfig):
    name: str = "world"
    times: int = Field(default=1, ge=1)


class Greeter(Component[GreeterConfig]):
    Config = GreeterConfig


class LouderGreeter(Greeter):
    version = 2


class TrainedGreeter(Greeter):
    weights = "abc"

    def fingerprint_extra(self) -> Any:
        return self.weights


def test_a_mapping_and_keywords_mean_the_same() -> None:
    one, other = Greeter({"name": "Ada", "times": 2}), Greeter(name="Ada", times=2)
    assert one.config == other.config
    assert one.fingerprint == other.fingerprint
    assert Greeter(one.config).config == one.config
    assert Greeter().config == Greeter({}).config == Greeter(None).config


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nmae": "Ada"}, "Greeter: unknown key 'nmae'"),
        ({"times": 0}, "Greeter: times: .*greater than or equal to 1"),
        ({"times": "many", "name": 3}, "name: .*; times: "),
    ],
)
def test_wrong_settings_name_component_and_key(settings: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Greeter(settings)
    with pytest.raises(ConfigError, match=message):
        Greeter(**settings)


def test_a_mapping_and_keywords_together_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"not both \(keywords: times\)"):
        Greeter({"name": "Ada"}, times=2)


@pytest.mark.parametrize("config", [["name"], "name", 3])
def test_settings_that_are_no_mapping_are_refused(config: Any) -> None:
    with pytest.raises(ConfigError, match="must be a mapping"):
        Greeter(config)


def test_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Greeter().config.name = "Ada"


def test_the_fingerprint_follows_class_version_settings_and_weights() -> None:
    built = [Greeter(), Greeter(name="Ada"), LouderGreeter(), TrainedGreeter()]
    fingerprints = [item.fingerprint for item in built]
    assert len(set(fingerprints)) == len(built)
    assert all(len(item) == 16 and int(item, 16) >= 0 for item in fingerprints)
    assert pickle.loads(pickle.dumps(built[1])).fingerprint == fingerprints[1]


def test_fingerprints_are_hashes_of_canonical_json() -> None:
    canonical = '{"a":["é",null],"b":1}'.encode()
    expected = hashlib.sha256(canonical).hexdigest()[:16]
    assert fingerprint_of({"b": 1, "a": ["é", None]}) == expected
    assert fingerprint_of({"a": ("é", None), "b": 1}) == expected
