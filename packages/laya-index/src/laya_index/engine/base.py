"""The seam of everything that runs the map stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar, runtime_checkable

A = TypeVar("A")
B = TypeVar("B")


@runtime_checkable
class MapEngine(Protocol):
    """Applies a picklable function to items, in parallel, results in the order of the items."""

    def map(self, function: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        """The results, one after the other; an exception of `function` comes out as it is."""
        ...

    def close(self) -> None:
        """Let the workers go; what is not finished is dropped."""
        ...
