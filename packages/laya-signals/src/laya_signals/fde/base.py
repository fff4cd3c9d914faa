"""The seam of fixed-dimensional encodings, and the random draws that its providers share.

Source: Dhulipala, Hadian, Jayaram, Lee, Mirrokni, "MUVERA: Multi-Vector Retrieval via Fixed
Dimensional Encodings" (NeurIPS 2024), section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from laya_signals.component import ComponentConfig
from laya_signals.errors import EncodeError


@runtime_checkable
class FdeEncoder(Protocol):
    """Token vectors of any number to one vector of fixed width.

    The dot product of a query's and a document's encoding approximates their MaxSim, the sum over
    the query's tokens of the best dot product with a token of the document. Both must be encoded
    with the same settings.
    """

    @property
    def fingerprint(self) -> str:
        """Hex digits that change whenever the same token vectors may give another encoding."""
        ...

    def width(self, dimension: int) -> int:
        """Components of an encoding of token vectors with `dimension` components."""
        ...

    def encode_query(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """`(tokens, dimension)` to `(width,)` float32; no token gives zeros."""
        ...

    def encode_document(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The same for a passage."""
        ...


class FdeConfig(ComponentConfig):
    """Settings of `fde.reference` and `fde.muvera`, which give the same encodings."""

    #: Independent partitions of space; their encodings stand side by side.
    repetitions: int = Field(default=20, ge=1, le=1000)
    #: Hyperplanes of a partition, which cut space into 2^k_sim cells.
    k_sim: int = Field(default=4, ge=0, le=12)
    #: Components of a token vector within a cell; None keeps all of them.
    projection: int | None = Field(default=16, ge=1, le=4096)
    #: Components of the whole encoding, after a last projection; None leaves that out.
    final_projection: int | None = Field(default=None, ge=1, le=1 << 20)
    #: Whether a document's empty cells take the vector of the token in the nearest other cell.
    fill_empty: bool = True
    #: Of the random draws; a query needs the same as the documents.
    seed: int = Field(default=42, ge=0, lt=1 << 63)

    def inner(self, dimension: int) -> int:
        """Components of a token vector within a cell."""
        return dimension if self.projection is None else self.projection

    def cells_width(self, dimension: int) -> int:
        """Components before the last projection: repetitions × 2^k_sim × inner components."""
        return self.repetitions * (1 << self.k_sim) * self.inner(dimension)

    def width(self, dimension: int) -> int:
        """Components of an encoding."""
        return self.final_projection or self.cells_width(dimension)


@dataclass(frozen=True, slots=True)
class Draws:
    """The random part of the settings, for token vectors with d components.

    `planes` `(repetitions, k_sim, d)` are normal vectors of hyperplanes; `signs`
    `(repetitions, inner, d)` project to the inner components, and are ±1/sqrt(inner) (Achlioptas'
    projection), or None; the last projection is a count sketch (Charikar, Chen and Farach-Colton):
    component i is added to `slots[i]` with the sign `flips[i]`, or both are None.
    """

    planes: NDArray[np.float64]
    signs: NDArray[np.float64] | None
    slots: NDArray[np.int64] | None
    flips: NDArray[np.float64] | None


@lru_cache(maxsize=8)
def draws(config: FdeConfig, dimension: int) -> Draws:
    """The random draws of `config` for token vectors with `dimension` components.

    Each of the three parts has a stream of its own, so none depends on whether another is there.
    """
    first, second, third = (
        np.random.Generator(np.random.PCG64([config.seed, dimension, part])) for part in range(3)
    )
    planes = first.standard_normal((config.repetitions, config.k_sim, dimension))
    signs: NDArray[np.float64] | None = None
    slots: NDArray[np.int64] | None = None
    flips: NDArray[np.float64] | None = None
    if config.projection is not None:
        shape = (config.repetitions, config.projection, dimension)
        signs = _signs(second.integers(0, 2, shape)) / np.float64(np.sqrt(config.projection))
    if config.final_projection is not None:
        wide = config.cells_width(dimension)
        slots = third.integers(0, config.final_projection, wide)
        flips = _signs(third.integers(0, 2, wide))
    for array in (planes, signs, slots, flips):
        if array is not None:
            array.flags.writeable = False
    return Draws(planes, signs, slots, flips)


def _signs(bits: NDArray[np.int64]) -> NDArray[np.float64]:
    return (bits * 2 - 1).astype(np.float64)


def checked(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Token vectors in double precision.

    Raises `EncodeError` when they are no `(tokens, dimension)` matrix of finite numbers.
    """
    matrix = np.asarray(vectors, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise EncodeError(f"token vectors are a (tokens, dimension) matrix, not {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise EncodeError("a token vector is not finite")
    return matrix
