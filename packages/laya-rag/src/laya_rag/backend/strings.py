"""Many texts as one run of bytes: nothing is decoded before it is asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from laya_rag.backend.arrays import ArrayFolder, ArrayWriter


class Strings:
    """The texts that `write` wrote under `name`, by position.

    Where they are sorted, or an `order` is given in which they are, `find` looks one up by binary
    search. The order is that of their UTF-8 bytes, which is the order of Python's strings.
    """

    def __init__(self, arrays: ArrayFolder, name: str) -> None:
        self._bytes = arrays.bytes(f"{name}.utf8")
        self._offsets = arrays[f"{name}.offsets"]
        self._order: NDArray[np.uint32] | None = arrays.get(f"{name}.order")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, position: int) -> str:
        return str(self._raw(position), "utf-8")

    def take(self, positions: NDArray[np.integer]) -> list[str]:
        """The texts at `positions`, `(n,)`."""
        starts = self._offsets[positions].tolist()
        ends = self._offsets[np.asarray(positions, np.int64) + 1].tolist()
        data = self._bytes
        return [str(data[start:end], "utf-8") for start, end in zip(starts, ends, strict=True)]

    def find(self, text: str) -> int | None:
        """The position of `text`; None where it is not among them."""
        place = self.bound(text)
        if place == len(self):
            return None
        position = place if self._order is None else int(self._order[place])
        return position if self._raw(position) == _encoded(text) else None

    def bound(self, text: str, *, after: bool = False) -> int:
        """How many texts sort before `text`; with `after`, those equal to it too."""
        wanted = _encoded(text)
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            raw = self._raw(middle if self._order is None else int(self._order[middle]))
            if raw < wanted or (after and raw == wanted):
                low = middle + 1
            else:
                high = middle
        return low

    def _raw(self, position: int) -> bytes:
        return bytes(self._bytes[int(self._offsets[position]) : int(self._offsets[position + 1])])


class StringsWriter:
    """Writes texts piece by piece, in the order of their positions."""

    def __init__(self, writer: ArrayWriter, name: str) -> None:
        self._writer = writer
        self._name = name
        self._data = writer.stream(f"{name}.utf8", np.uint8)
        self._offsets = writer.stream(f"{name}.offsets", np.int64)
        self._offsets.append(np.zeros(1, np.int64))
        self._end = 0

    def append(self, texts: Sequence[str]) -> None:
        """Write the next texts."""
        encoded = [_encoded(text) for text in texts]
        ends = self._end + np.cumsum([len(raw) for raw in encoded], dtype=np.int64)
        self._data.append(np.frombuffer(b"".join(encoded), np.uint8))
        self._offsets.append(ends)
        if len(ends):
            self._end = int(ends[-1])

    def close(self) -> None:
        """Finish both files."""
        self._data.close()
        self._offsets.close()


def write_strings(writer: ArrayWriter, name: str, texts: Sequence[str]) -> None:
    """Write `texts` under `name`, all at once."""
    strings = StringsWriter(writer, name)
    strings.append(texts)
    strings.close()


def write_order(writer: ArrayWriter, name: str, order: NDArray[np.integer]) -> None:
    """Write the positions of `name`'s texts in ascending order of the texts."""
    writer.put(f"{name}.order", order.astype(np.uint32))


def _encoded(text: str) -> bytes:
    # A lone surrogate is in no bundle, but a caller may look for one.
    return text.encode("utf-8", "surrogatepass")
