"""The seam of everything that yields documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from laya_index.document import Skipped, SourceDocument


@runtime_checkable
class Source(Protocol):
    """Documents, one at a time, in any order; ids are unique.

    A document that cannot be read is yielded as `Skipped` with its reason, and reading goes on.
    Raises `SourceError` only when the source as a whole cannot be read.
    """

    @property
    def fingerprint(self) -> str:
        """Hex digits that change whenever the same input may give other documents."""
        ...

    def read(self) -> Iterator[SourceDocument | Skipped]:
        """Every document of the source."""
        ...
