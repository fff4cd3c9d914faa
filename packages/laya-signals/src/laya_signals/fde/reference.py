"""`fde.reference`: the encoding written down as the paper says it, one token at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from laya_signals.component import Component
from laya_signals.fde.base import Draws, FdeConfig, checked, draws


class ReferenceFde(Component[FdeConfig]):
    """Slow and obvious: what `fde.muvera` is tested against.

    In each repetition a token falls into the cell whose number has bit j set where it lies on the
    positive side of hyperplane j. A query's cell holds the sum of its tokens, a document's cell
    their mean; an empty cell of a document takes the token whose cell's number differs in the
    fewest bits, the first of them in reading order.
    """

    Config = FdeConfig

    def width(self, dimension: int) -> int:
        """Components of an encoding of token vectors with `dimension` components."""
        return self.config.width(dimension)

    def encode_query(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """`(tokens, dimension)` to `(width,)` float32."""
        return self._encode(vectors, document=False)

    def encode_document(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The same for a passage."""
        return self._encode(vectors, document=True)

    def _encode(self, vectors: NDArray[np.float32], *, document: bool) -> NDArray[np.float32]:
        tokens = checked(vectors)
        drawn = draws(self.config, tokens.shape[1])
        blocks = []
        for repetition in range(self.config.repetitions):
            cells = [_cell(token, drawn.planes[repetition]) for token in tokens]
            inner = [self._project(token, drawn, repetition) for token in tokens]
            for cell in range(2**self.config.k_sim):
                inside = [inner[n] for n in range(len(tokens)) if cells[n] == cell]
                block = np.zeros(self.config.inner(tokens.shape[1]))
                for vector in inside:
                    block = block + vector
                if document and inside:
                    block = block / len(inside)
                elif document and len(tokens) and self.config.fill_empty:
                    nearest = min(range(len(tokens)), key=lambda n: (cells[n] ^ cell).bit_count())
                    block = inner[nearest]
                blocks.append(block)
        whole = np.concatenate(blocks)
        if drawn.slots is not None and drawn.flips is not None:
            sketch = np.zeros(self.config.width(tokens.shape[1]))
            for component, slot, flip in zip(whole, drawn.slots, drawn.flips, strict=True):
                sketch[slot] += flip * component
            whole = sketch
        return whole.astype(np.float32)

    def _project(
        self, token: NDArray[np.float64], drawn: Draws, repetition: int
    ) -> NDArray[np.float64]:
        if drawn.signs is None:
            return token
        projected: NDArray[np.float64] = drawn.signs[repetition] @ token
        return projected


def _cell(token: NDArray[np.float64], planes: NDArray[np.float64]) -> int:
    return sum(1 << bit for bit, plane in enumerate(planes) if float(plane @ token) > 0)
