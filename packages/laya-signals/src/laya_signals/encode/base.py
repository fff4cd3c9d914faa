"""The seam of everything that turns a text into one dense vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Encoder(Protocol):
    """Texts to unit vectors whose dot product is their cosine.

    What a text gets depends on that text alone: never on its neighbours in the batch, the padding
    or the number of threads. Bundles are reproducible to the byte because of it.
    """

    @property
    def dimension(self) -> int:
        """Components per vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens beyond this many (special tokens included) are cut off on the right."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hex digits that identify weights, tokenizer and settings."""
        ...

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode passages as they are indexed: `(len(texts), dimension)` float32, unit rows."""
        ...

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode questions: same shape; a model family may prefix queries differently."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens included, before any cut."""
        ...
