"""An encoder for tests: quick, and with as many ties as wanted."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from laya_signals.component import Component, ComponentConfig
from numpy.typing import NDArray


class HashedConfig(ComponentConfig):
    dimension: int = 8
    #: How many different vectors there are.
    distinct: int = 1 << 30


class HashedEncoder(Component[HashedConfig]):
    """A random unit vector for each text, as its hash says."""

    Config = HashedConfig
    max_tokens = 1 << 30

    @property
    def dimension(self) -> int:
        return self.config.dimension

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [self._vector(text) for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), self.dimension)

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.encode_documents(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def _vector(self, text: str) -> NDArray[np.float64]:
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        seed = int.from_bytes(digest, "big") % self.config.distinct
        vector = np.random.default_rng(seed).standard_normal(self.dimension)
        return vector / np.linalg.norm(vector)
