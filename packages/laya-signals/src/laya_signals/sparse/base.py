"""The seam of everything that turns a text into a sparse vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from laya_signals.sparse.vector import SparseVector


@runtime_checkable
class SparseEncoder(Protocol):
    """Texts to sparse vectors over a fixed vocabulary; documents and queries alike.

    What a text gets depends on that text alone, never on its neighbours in the batch. A class with
    an attribute `costly` that is true has its vectors kept between runs of the index clock; its
    `dimension` may be at most 2³¹.
    """

    @property
    def dimension(self) -> int:
        """The vocabulary's size: every index is below it."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hex digits that change whenever the same text may give another vector."""
        ...

    def encode(self, texts: Sequence[str]) -> list[SparseVector]:
        """One vector per text; an empty one for a text without terms."""
        ...

    def term_ids(self, text: str) -> list[int]:
        """The indices of a text's terms in reading order, for boosting them by name."""
        ...
