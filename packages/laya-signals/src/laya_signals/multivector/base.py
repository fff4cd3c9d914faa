"""The seam of everything that turns a text into one vector per token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class MultiVectorEncoder(Protocol):
    """A text to `(tokens, dimension)` float32, unit rows, in reading order."""

    @property
    def dimension(self) -> int:
        """Components per token vector."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hex digits that change whenever the same text may give other vectors."""
        ...

    def encode_documents(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """One array per passage; a text without tokens gives `(0, dimension)`."""
        ...

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """The token vectors of a question."""
        ...
