"""`fde.muvera`: fixed-dimensional encodings, vectorised over tokens and repetitions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from laya_signals.component import Component
from laya_signals.fde.base import FdeConfig, checked, draws


class MuveraFde(Component[FdeConfig]):
    """The encodings of `fde.reference`, without a loop over tokens, cells or repetitions.

    >>> fde = MuveraFde(repetitions=10, k_sim=3, projection=8)
    >>> fde.width(384)
    640

    Everything is computed in double precision and from one text at a time, so an encoding does not
    depend on what else is encoded.
    """

    Config = FdeConfig

    def width(self, dimension: int) -> int:
        """Components of an encoding of token vectors with `dimension` components."""
        return self.config.width(dimension)

    def encode_query(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """`(tokens, dimension)` to `(width,)` float32; raises `EncodeError` for another shape."""
        return self._encode(vectors, document=False)

    def encode_document(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The same for a passage."""
        return self._encode(vectors, document=True)

    def _encode(self, vectors: NDArray[np.float32], *, document: bool) -> NDArray[np.float32]:
        tokens = checked(vectors)
        count, dimension = tokens.shape
        config = self.config
        if not count:
            return np.zeros(config.width(dimension), np.float32)
        repetitions, buckets, inner = config.repetitions, 2**config.k_sim, config.inner(dimension)
        drawn = draws(config, dimension)

        sides = tokens @ drawn.planes.reshape(-1, dimension).T > 0
        bits = sides.reshape(count, repetitions, config.k_sim)
        cells = bits @ (1 << np.arange(config.k_sim))  # (tokens, repetitions)
        if drawn.signs is None:
            projected = np.broadcast_to(tokens[:, None, :], (count, repetitions, inner))
        else:
            projected = tokens @ drawn.signs.reshape(-1, dimension).T
            projected = projected.reshape(count, repetitions, inner)

        rows = (np.arange(repetitions) * buckets + cells).ravel()
        sums = np.zeros((repetitions * buckets, inner))
        np.add.at(sums, rows, projected.reshape(-1, inner))
        if document:
            held = np.bincount(rows, minlength=len(sums))
            sums /= np.maximum(held, 1)[:, None]
            if config.fill_empty:
                empty = np.flatnonzero(held == 0)
                repetition, cell = np.divmod(empty, buckets)
                distances = np.bitwise_count(cells[:, repetition] ^ cell)  # (tokens, empty)
                sums[empty] = projected[distances.argmin(axis=0), repetition]
        whole = sums.ravel()
        if drawn.slots is not None and drawn.flips is not None:
            whole = np.bincount(drawn.slots, drawn.flips * whole, config.width(dimension))
        encoded: NDArray[np.float32] = whole.astype(np.float32)
        return encoded
