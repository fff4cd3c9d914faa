"""From a `{"provider": …, "config": …}` block to a query-time component.

Names come from the entry-point group `laya.retrieval`, so another package can add its own. Each
function checks that what it built implements the seam it was asked for: a mix-up fails when a
stack is wired, not when a query arrives. All raise `RegistryError` for an unknown name or another
kind of component, and `ConfigError` for wrong settings; `inject` are constructor keywords that no
configuration can hold (`model=`, `graph_source=`, …).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from laya_signals.multivector.base import MultiVectorEncoder
from laya_signals.registry import ProviderBlock, Registry
from laya_signals.sparse.composition import Entity
from laya_signals.sparse.vector import SparseVector

from laya_retrieval.fuse.base import Fuser
from laya_retrieval.gate.base import Gate
from laya_retrieval.process.base import Processor
from laya_retrieval.verify.base import Verifier

#: A provider's name and its settings.
Block: TypeAlias = ProviderBlock | Mapping[str, Any]

#: The providers of the group `laya.retrieval`.
retrieval = Registry("laya.retrieval")


@runtime_checkable
class SparseQueryEncoder(Protocol):
    """A query to its sparse vector."""

    def encode(
        self,
        text: str,
        *,
        entities: Sequence[Entity] = (),
        metadata_terms: Sequence[str] = (),
    ) -> SparseVector:
        """The composed vector of the query, its entities and its metadata terms."""
        ...


def resolve_fuser(block: Block, **inject: Any) -> Fuser:
    """Build `fuser.*`."""
    return retrieval.resolve(block, Fuser, **inject)


def resolve_processor(block: Block, **inject: Any) -> Processor:
    """Build `processor.*`; a gate that also filters is a processor too."""
    return retrieval.resolve(block, Processor, **inject)


def resolve_gate(block: Block, **inject: Any) -> Gate:
    """Build `gate.*`."""
    return retrieval.resolve(block, Gate, **inject)


def resolve_sparse_query(block: Block, **inject: Any) -> SparseQueryEncoder:
    """Build `query_sparse.*`."""
    return retrieval.resolve(block, SparseQueryEncoder, **inject)


def resolve_multivector_query(block: Block, **inject: Any) -> MultiVectorEncoder:
    """Build `query_multivector.*`."""
    return retrieval.resolve(block, MultiVectorEncoder, **inject)


def resolve_verifier(block: Block, **inject: Any) -> Verifier:
    """Build `verifier.*`."""
    return retrieval.resolve(block, Verifier, **inject)
