"""Terms are what stands between white space, in lower case."""

from __future__ import annotations

import unicodedata

from laya_signals.component import Component, ComponentConfig


class WhitespaceTokenizerConfig(ComponentConfig):
    """Settings of `tokenizer.whitespace`."""

    lower: bool = True


class WhitespaceTokenizer(Component[WhitespaceTokenizerConfig]):
    """Splits NFC-normalised text on white space; lower-cases unless told not to."""

    Config = WhitespaceTokenizerConfig

    def tokenize(self, text: str) -> list[str]:
        """The terms of `text` in reading order."""
        text = unicodedata.normalize("NFC", text)
        return (text.lower() if self.config.lower else text).split()
