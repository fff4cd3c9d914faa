"""The rows that one caller may see, and what follows from them alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """`mask`, `(total,)`, says which chunks are permitted; None permits all of them.

    `count` chunks of `total` are permitted; `lengths` are the terms in all of these together, for
    each lexical field.
    """

    mask: NDArray[np.bool_] | None
    total: int
    count: int
    lengths: Mapping[str, int]

    @classmethod
    def of(cls, mask: NDArray[np.bool_], lengths: Mapping[str, NDArray[np.integer]]) -> Scope:
        """The scope of `mask`; `lengths` are the terms of each chunk, by lexical field."""
        count = int(np.count_nonzero(mask))
        whole = count == len(mask)
        found = {
            name: int((values if whole else values[mask]).sum(dtype=np.int64))
            for name, values in lengths.items()
        }
        mask.flags.writeable = False
        return cls(None if whole else mask, len(mask), count, found)

    def average_length(self, field: str) -> float:
        """Terms of a field in a permitted chunk, on average; 0 where there is none."""
        return self.lengths[field] / self.count if self.count else 0.0

    def permits(self, row: int) -> bool:
        """Whether the chunk `row` may be seen."""
        return self.mask is None or bool(self.mask[row])

    def permitted(self, rows: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of the chunks `rows` may be seen, `(len(rows),)`."""
        if self.mask is None:
            return np.ones(len(rows), dtype=bool)
        permitted: NDArray[np.bool_] = self.mask[rows]
        return permitted

    def narrowed(self, mask: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
        """The permitted chunks that `mask` has too; None stands for all chunks."""
        if mask is None or self.mask is None:
            return self.mask if mask is None else mask
        return self.mask & mask
