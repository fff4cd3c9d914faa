"""Sparse vectors, and the compositions that both clocks share."""

from laya_signals.sparse.base import SparseEncoder
from laya_signals.sparse.composition import (
    CompositionConfig,
    Entity,
    compose,
    compose_vectors,
)
from laya_signals.sparse.hashing import HashingSparseEncoder, term_index
from laya_signals.sparse.vector import SparseVector

__all__ = [
    "CompositionConfig",
    "Entity",
    "HashingSparseEncoder",
    "SparseEncoder",
    "SparseVector",
    "compose",
    "compose_vectors",
    "term_index",
]
