"""The seam of everything that can be searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from laya_retrieval.candidate import Candidate

if TYPE_CHECKING:
    from laya_retrieval.retrieve.query import QueryBundle


class Capability(Enum):
    """What a backend can serve; a leg is named by its capability's value."""

    BM25 = "bm25"
    DENSE = "dense"
    SPARSE = "sparse"
    MULTIVECTOR = "multivector"
    #: Applies `QueryBundle.filters` inside the search, before a leg is cut to its depth.
    FILTER = "filter"


#: What a search returns: the name of each leg that ran to its candidates, best first.
Legs: TypeAlias = Mapping[str, Sequence[Candidate]]


@dataclass(frozen=True, slots=True)
class LegResult:
    """One leg as it went into fusion: its name, and its permitted candidates, best first."""

    mode: str
    candidates: tuple[Candidate, ...]


@runtime_checkable
class RetrievalBackend(Protocol):
    """A store that finds candidates.

    `search` runs the legs `query.legs(self.capabilities)` and returns for each at most
    `query.depth` candidates, best first, in a total order. A leg shorter than `query.depth` says
    that it has nothing more: the deepening of guarded searches stops there. Where
    `query.filters` is set, only rows that match it may come back.
    """

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this backend can serve."""
        ...

    def search(self, query: QueryBundle) -> Legs:
        """The candidates of every leg that ran, by leg name."""
        ...
