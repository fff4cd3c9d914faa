"""Text-to-signal functions shared by the index clock and the query clock."""

from laya_signals.component import Component, ComponentConfig
from laya_signals.encode.base import Encoder
from laya_signals.errors import (
    ConfigError,
    EncodeError,
    MissingExtraError,
    ModelError,
    RegistryError,
    SignalError,
)
from laya_signals.registry import ProviderBlock, Registry, signals
from laya_signals.tokenize.base import Tokenizer

__all__ = [
    "Component",
    "ComponentConfig",
    "ConfigError",
    "EncodeError",
    "Encoder",
    "MissingExtraError",
    "ModelError",
    "ProviderBlock",
    "Registry",
    "RegistryError",
    "SignalError",
    "Tokenizer",
    "signals",
]
