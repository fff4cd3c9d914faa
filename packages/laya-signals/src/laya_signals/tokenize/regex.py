"""Terms are the matches of one regular expression."""

from __future__ import annotations

import re
import unicodedata

from pydantic import field_validator

from laya_signals.component import Component, ComponentConfig


class RegexTokenizerConfig(ComponentConfig):
    """Settings of `tokenizer.regex`; `pattern` may have one group, which is then the term."""

    pattern: str = r"\w+"
    lower: bool = True

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            compiled = re.compile(pattern)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from error
        if compiled.groups > 1:
            raise ValueError("use at most one capturing group; write others as (?:…)")
        if compiled.match(""):
            raise ValueError("the pattern matches the empty string, so it would find empty terms")
        return pattern


class RegexTokenizer(Component[RegexTokenizerConfig]):
    """All matches of `pattern` in NFC-normalised text; lower-cases unless told not to."""

    Config = RegexTokenizerConfig

    def tokenize(self, text: str) -> list[str]:
        """The terms of `text` in reading order."""
        text = unicodedata.normalize("NFC", text)
        terms = re.findall(self.config.pattern, text.lower() if self.config.lower else text)
        return [term for term in terms if term]
