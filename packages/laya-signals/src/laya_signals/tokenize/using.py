"""The base of components that read text through a tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from laya_signals.component import Component, ComponentConfig
from laya_signals.registry import ProviderBlock, signals
from laya_signals.tokenize.base import Tokenizer


class TokenizingConfig(ComponentConfig):
    """Settings of a component that reads text through a tokenizer."""

    #: Which tokenizer; None takes words without stemming.
    tokenizer: ProviderBlock | None = None


C = TypeVar("C", bound=TokenizingConfig)


class TokenizingComponent(Component[C]):
    """Holds the tokenizer that its settings name, or one that is built already (`tokenizer=`)."""

    def __init__(
        self,
        config: Mapping[str, Any] | TokenizingConfig | None = None,
        /,
        *,
        tokenizer: Tokenizer | Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        if isinstance(tokenizer, Mapping):
            settings["tokenizer"], tokenizer = tokenizer, None
        super().__init__(config, **settings)
        self.tokenizer: Tokenizer = (
            tokenizer
            if tokenizer is not None
            else signals.resolve(self.config.tokenizer or {"provider": "tokenizer.word"}, Tokenizer)
        )

    def fingerprint_extra(self) -> Any:
        """The tokenizer decides the terms."""
        return self.tokenizer.fingerprint
