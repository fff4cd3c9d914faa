"""Token vectors from hashes: exact term matching in the shape of late interaction, no model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from laya_signals.tokenize.using import TokenizingComponent, TokenizingConfig


class HashingMultiVectorConfig(TokenizingConfig):
    """Settings of `multivector.hashing`."""

    #: Components per token vector; two different terms have a cosine of about ±1/sqrt(dimension).
    dimension: int = Field(default=128, ge=1, le=4096)
    #: Tokens beyond this many are cut off.
    max_tokens: int = Field(default=512, ge=1)


@lru_cache(maxsize=16384)
def _term_vector(term: str, dimension: int) -> NDArray[np.float32]:
    digest = hashlib.shake_256(term.encode("utf-8", "surrogatepass")).digest((dimension + 7) // 8)
    bits = np.unpackbits(np.frombuffer(digest, dtype=np.uint8))[:dimension]
    signs = bits.astype(np.float64) * 2 - 1
    vector: NDArray[np.float32] = (signs / np.sqrt(dimension)).astype(np.float32)
    vector.flags.writeable = False
    return vector


class HashingMultiVectorEncoder(TokenizingComponent[HashingMultiVectorConfig]):
    """Each term's vector of signs, as SHAKE-256 of the term says, scaled to unit length.

    MaxSim over them counts how many of the query's terms a passage has, up to the chance
    likeness of different terms. `tokenizer=` takes one that is built already.
    """

    Config = HashingMultiVectorConfig

    @property
    def dimension(self) -> int:
        """Components per token vector."""
        return self.config.dimension

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """`(tokens, dimension)` float32, unit rows."""
        terms = self.tokenizer.tokenize(text)[: self.config.max_tokens]
        if not terms:
            return np.zeros((0, self.config.dimension), dtype=np.float32)
        return np.stack([_term_vector(term, self.config.dimension) for term in terms])

    def encode_documents(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """One `(tokens, dimension)` array per text; the same as for a query."""
        return [self.encode_query(text) for text in texts]
