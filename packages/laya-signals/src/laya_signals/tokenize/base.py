"""The seam of everything that turns a text into index terms."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Tokenizer(Protocol):
    """A text to its index terms, in reading order, repeats included.

    Documents and queries go through the same tokenizer; `fingerprint` travels in the bundle so
    that a query tokenised differently is refused instead of silently finding nothing.
    """

    @property
    def fingerprint(self) -> str:
        """Hex digits that change whenever the same text may give other terms."""
        ...

    def tokenize(self, text: str) -> list[str]:
        """The terms of `text`; an empty list for a text without any."""
        ...
