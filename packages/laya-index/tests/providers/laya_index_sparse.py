"""A sparse encoder that says that its vectors are worth keeping, and remembers what it encoded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from laya_signals.sparse import HashingSparseEncoder, SparseVector


class CostlySparseEncoder(HashingSparseEncoder):
    costly: ClassVar[bool] = True
    encoded: ClassVar[list[str]] = []

    def encode(self, texts: Sequence[str]) -> list[SparseVector]:
        self.encoded.extend(texts)
        return super().encode(texts)
