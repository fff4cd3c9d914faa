"""A sparse vector: strictly ascending indices and their weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laya_signals.errors import EncodeError


@dataclass(frozen=True, slots=True, eq=False)
class SparseVector:
    """Weights at a few of very many dimensions.

    `indices` is `(n,)` int64, strictly ascending and not negative; `values` is `(n,)` float32,
    finite and not zero. Raises `EncodeError` when the two do not fit that description.
    """

    indices: NDArray[np.int64]
    values: NDArray[np.float32]

    def __post_init__(self) -> None:
        indices = np.array(self.indices, dtype=np.int64)
        values = np.array(self.values, dtype=np.float32)
        if indices.ndim != 1 or indices.shape != values.shape:
            raise EncodeError(
                f"a sparse vector needs two equally long lists, not shapes "
                f"{indices.shape} and {values.shape}"
            )
        if indices.size and (indices[0] < 0 or bool(np.any(np.diff(indices) <= 0))):
            raise EncodeError("sparse indices must be at least 0 and strictly ascending")
        if not bool(np.all(np.isfinite(values))) or bool(np.any(values == 0)):
            raise EncodeError("sparse values must be finite and not zero")
        indices.flags.writeable = False
        values.flags.writeable = False
        object.__setattr__(self, "indices", indices)
        object.__setattr__(self, "values", values)

    @classmethod
    def from_mapping(cls, weights: Mapping[int, float]) -> SparseVector:
        """From index to weight; entries of weight 0 are left out."""
        kept = sorted((index, value) for index, value in weights.items() if np.float32(value) != 0)
        return cls(
            np.array([index for index, _ in kept], dtype=np.int64),
            np.array([value for _, value in kept], dtype=np.float32),
        )

    @classmethod
    def from_arrays(cls, indices: ArrayLike, values: ArrayLike) -> SparseVector:
        """From anything numpy can read as two one-dimensional arrays."""
        return cls(np.asarray(indices, dtype=np.int64), np.asarray(values, dtype=np.float32))

    def __len__(self) -> int:
        return int(self.indices.size)

    def __iter__(self) -> Iterator[tuple[int, float]]:
        return zip(self.indices.tolist(), self.values.tolist(), strict=True)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SparseVector)
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.values, other.values)
        )

    def __hash__(self) -> int:
        return hash((self.indices.tobytes(), self.values.tobytes()))

    def to_mapping(self) -> dict[int, float]:
        """Index to weight, ascending."""
        return dict(self)

    def dot(self, other: SparseVector) -> float:
        """The dot product, in double precision."""
        _, mine, theirs = np.intersect1d(
            self.indices, other.indices, assume_unique=True, return_indices=True
        )
        return float(
            np.dot(self.values[mine].astype(np.float64), other.values[theirs].astype(np.float64))
        )
