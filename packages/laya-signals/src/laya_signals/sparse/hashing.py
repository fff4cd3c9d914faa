"""Term frequencies over hashed indices: a sparse vector without a vocabulary or a model."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from pydantic import Field

from laya_signals.sparse.vector import SparseVector
from laya_signals.tokenize.using import TokenizingComponent, TokenizingConfig


@lru_cache(maxsize=65536)
def term_index(term: str, vocab_size: int) -> int:
    """A term's index in `0..vocab_size - 1`: BLAKE2b of its UTF-8 bytes, the same everywhere."""
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % vocab_size


class HashingSparseConfig(TokenizingConfig):
    """Settings of `sparse.hashing`."""

    #: Number of indices; two terms share one with probability 1 / vocab_size.
    vocab_size: int = Field(default=1 << 20, ge=1, le=1 << 62)


class HashingSparseEncoder(TokenizingComponent[HashingSparseConfig]):
    """Each term's frequency at the index that its hash says; terms that collide are added.

    `tokenizer=` takes one that is built already. Source: Weinberger et al., "Feature Hashing for
    Large Scale Multitask Learning" (ICML 2009), without the signs: weights stay counts.
    """

    Config = HashingSparseConfig

    @property
    def dimension(self) -> int:
        """`vocab_size`."""
        return self.config.vocab_size

    def term_ids(self, text: str) -> list[int]:
        """The indices of a text's terms in reading order."""
        size = self.config.vocab_size
        return [term_index(term, size) for term in self.tokenizer.tokenize(text)]

    def encode(self, texts: Sequence[str]) -> list[SparseVector]:
        """One vector of term frequencies per text."""
        return [SparseVector.from_mapping(Counter(self.term_ids(text))) for text in texts]
