"""The graph as every feature reads it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Adjacency:
    """An undirected weighted graph of nodes 0, 1, …, each edge in the lists of both ends.

    The neighbours of node `i` are `near[offsets[i]:offsets[i + 1]]`, ascending, and the weights of
    these edges lie beside them.
    """

    offsets: NDArray[np.int64]
    near: NDArray[np.int64]
    weight: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        nodes: int,
        source: NDArray[np.int64],
        target: NDArray[np.int64],
        weight: NDArray[np.float64],
    ) -> Adjacency:
        """From edges that are given once each, without loops."""
        one = np.concatenate([source, target])
        other = np.concatenate([target, source])
        order = np.lexsort((other, one))
        return cls(
            offsets=np.searchsorted(one[order], np.arange(nodes + 1)),
            near=other[order],
            weight=np.concatenate([weight, weight])[order],
        )

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.offsets) - 1

    @property
    def degrees(self) -> NDArray[np.int64]:
        """The number of neighbours of each node."""
        return np.diff(self.offsets)
