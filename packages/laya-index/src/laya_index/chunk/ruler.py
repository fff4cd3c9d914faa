"""Measuring stretches of a text, whatever the unit."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Protocol


class Ruler(Protocol):
    """Sizes of stretches of one text; a longer stretch is never smaller."""

    def size(self, start: int, end: int) -> int:
        """The size of `text[start:end]`."""
        ...

    def reach(self, start: int, size: int) -> int:
        """The last end of a stretch from `start` that is no larger than `size`."""
        ...

    def first_within(self, end: int, size: int) -> int:
        """The first start of a stretch up to `end` that is no larger than `size`."""
        ...

    def last_showing(self, end: int, size: int) -> int:
        """The last start of a stretch up to `end` that is at least `size`; below 0 without one."""
        ...


class CharacterRuler:
    """The unit is one character."""

    def __init__(self, text: str) -> None:
        self._length = len(text)

    def size(self, start: int, end: int) -> int:
        """See `Ruler`."""
        return end - start

    def reach(self, start: int, size: int) -> int:
        """See `Ruler`."""
        return min(start + size, self._length)

    def first_within(self, end: int, size: int) -> int:
        """See `Ruler`."""
        return max(end - size, 0)

    def last_showing(self, end: int, size: int) -> int:
        """See `Ruler`."""
        return end - size


class TableRuler:
    """`sizes[i]` is the size of `text[:i]`, for every i up to the text's length; it never falls."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes

    def size(self, start: int, end: int) -> int:
        """See `Ruler`."""
        return self._sizes[end] - self._sizes[start]

    def reach(self, start: int, size: int) -> int:
        """See `Ruler`."""
        return bisect.bisect_right(self._sizes, self._sizes[start] + size) - 1

    def first_within(self, end: int, size: int) -> int:
        """See `Ruler`."""
        return bisect.bisect_left(self._sizes, self._sizes[end] - size)

    def last_showing(self, end: int, size: int) -> int:
        """See `Ruler`."""
        return bisect.bisect_right(self._sizes, self._sizes[end] - size) - 1
