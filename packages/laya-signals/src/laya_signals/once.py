"""A value that is made when it is first wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """Call it for the value; the first call makes it, while other threads wait.

    >>> greeting = Once(lambda: "hello")
    >>> greeting() is greeting()
    True

    When making it raises, the next call tries again.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._making = threading.RLock()
        self._made: tuple[T] | None = None

    def __call__(self) -> T:
        """The value."""
        if self._made is None:
            with self._making:
                if self._made is None:
                    self._made = (self._make(),)
        return self._made[0]
