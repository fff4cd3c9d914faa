"""Everything that one search is told: the text and the signals made from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from laya_signals.sparse.vector import SparseVector
from numpy.typing import ArrayLike, NDArray

from laya_retrieval.errors import OrchestrationError
from laya_retrieval.filters import Filter, parse_filter
from laya_retrieval.retrieve.backend import Capability


@dataclass(frozen=True, eq=False, init=False)
class QueryBundle:
    """One query with the signals that its legs need; immutable.

    A leg runs when the query has its signal and the backend its capability: `text` feeds BM25,
    `vector` the dense leg, each entry of `vectors` a dense leg of its own (named
    `dense:<name>`), `sparse_terms` the sparse leg, `multivector` the multi-vector leg.

    `vector` is `(d,)`, `multivector` `(tokens, d)`, both float32 after construction.
    `sparse_terms` is a `SparseVector` or a mapping of index to weight. `filters` is a parsed
    filter or its JSON form, see `laya_retrieval.filters`. `depth` is how many candidates each leg
    should return at most. `modes` names the legs to run; None runs all that can be.

    Raises `OrchestrationError` for a signal of the wrong shape or with a value that is not finite,
    a depth below 1, or an unknown mode; `FilterError` for a malformed filter.
    """

    text: str
    vector: NDArray[np.float32] | None
    sparse_terms: SparseVector | None
    multivector: NDArray[np.float32] | None
    filters: Filter | None
    vectors: Mapping[str, NDArray[np.float32]]
    depth: int
    modes: tuple[str, ...] | None

    def __init__(
        self,
        text: str = "",
        vector: ArrayLike | None = None,
        sparse_terms: SparseVector | Mapping[int, float] | None = None,
        multivector: ArrayLike | None = None,
        filters: Filter | Mapping[str, Any] | None = None,
        vectors: Mapping[str, ArrayLike] | None = None,
        depth: int = 100,
        modes: Collection[str] | None = None,
    ) -> None:
        if depth < 1:
            raise OrchestrationError(f"depth must be at least 1, not {depth}")
        for mode in modes or ():
            leg_capability(mode)
        if sparse_terms is not None and not isinstance(sparse_terms, SparseVector):
            sparse_terms = SparseVector.from_mapping(sparse_terms)
        named = {name: _signal(f"vectors[{name!r}]", v, 1) for name, v in (vectors or {}).items()}
        values = {
            "text": text,
            "vector": None if vector is None else _signal("vector", vector, 1),
            "sparse_terms": sparse_terms,
            "multivector": None if multivector is None else _signal("multivector", multivector, 2),
            "filters": None if filters is None else parse_filter(filters),
            "vectors": MappingProxyType(named),
            "depth": depth,
            "modes": None if modes is None else tuple(modes),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def signals(self) -> tuple[str, ...]:
        """The legs that this query has a signal for, in a fixed order."""
        legs: list[str] = []
        if self.text.strip():
            legs.append(Capability.BM25.value)
        if self.vector is not None:
            legs.append(Capability.DENSE.value)
        legs.extend(f"{Capability.DENSE.value}:{name}" for name in sorted(self.vectors))
        if self.sparse_terms is not None and len(self.sparse_terms):
            legs.append(Capability.SPARSE.value)
        if self.multivector is not None and self.multivector.size:
            legs.append(Capability.MULTIVECTOR.value)
        return tuple(legs)

    def legs(self, capabilities: Collection[Capability]) -> tuple[str, ...]:
        """The legs that should run on a backend with `capabilities`.

        Those that have a signal, narrowed to `modes` where those are given.
        """
        return tuple(
            leg
            for leg in self.signals()
            if leg_capability(leg) in capabilities and (self.modes is None or leg in self.modes)
        )

    def deeper(self, depth: int) -> QueryBundle:
        """A copy that asks each leg for up to `depth` candidates."""
        return replace(self, depth=depth)


def leg_capability(leg: str) -> Capability:
    """The capability that serves a leg: `dense:<name>` is served by DENSE, others by their name.

    Raises `OrchestrationError` for a name that is no leg.
    """
    base, _, name = leg.partition(":")
    for capability in (
        Capability.BM25,
        Capability.DENSE,
        Capability.SPARSE,
        Capability.MULTIVECTOR,
    ):
        if base == capability.value and (not name or capability is Capability.DENSE):
            return capability
    raise OrchestrationError(
        f"unknown leg {leg!r}; legs are bm25, dense, dense:<name>, sparse and multivector"
    )


def _signal(name: str, values: ArrayLike, dimensions: int) -> NDArray[np.float32]:
    try:
        array = np.array(values, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise OrchestrationError(f"{name} is not an array of numbers: {error}") from error
    if array.ndim != dimensions:
        raise OrchestrationError(
            f"{name} must have {dimensions} dimension(s), not shape {array.shape}"
        )
    if not bool(np.all(np.isfinite(array))):
        raise OrchestrationError(f"{name} has a value that is not finite")
    array.flags.writeable = False
    return array
