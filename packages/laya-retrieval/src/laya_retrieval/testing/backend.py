"""A backend over a handful of candidates."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from laya_retrieval.candidate import Candidate, ranked
from laya_retrieval.errors import FilterError, OrchestrationError
from laya_retrieval.retrieve.backend import Capability
from laya_retrieval.retrieve.query import QueryBundle, leg_capability

_DEFAULT = frozenset({Capability.BM25, Capability.DENSE, Capability.FILTER})


class FakeBackend:
    """Serves the same candidates, by their own scores, in every leg.

    By default six documents d0 … d5 of score 1 - i/10, text "doc i about revenue", metadata
    `ordinal` i; legs bm25 and dense, filters, vectors of dimension 4. Refuses what a real store
    refuses: a vector of another dimension or a filter it does not serve (`OrchestrationError`), a
    filter by a field that no document has (`FilterError`). `queries` holds every query it was
    given.
    """

    def __init__(
        self,
        documents: Sequence[Candidate] | None = None,
        *,
        capabilities: Collection[Capability] = _DEFAULT,
        dimension: int = 4,
    ) -> None:
        if documents is None:
            documents = [
                Candidate(f"d{i}", 1 - i / 10, f"doc {i} about revenue", {"ordinal": i})
                for i in range(6)
            ]
        self.documents = tuple(ranked(documents))
        self.dimension = dimension
        self.queries: list[QueryBundle] = []
        self._capabilities = frozenset(capabilities)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What was declared."""
        return self._capabilities

    def search(self, query: QueryBundle) -> dict[str, list[Candidate]]:
        """The best `query.depth` documents that match the filter, once per leg."""
        self.queries.append(query)
        found: Sequence[Candidate] = self.documents
        if query.filters is not None:
            if Capability.FILTER not in self._capabilities:
                raise OrchestrationError("this backend cannot filter")
            known = {key for document in self.documents for key in document.metadata}
            heads = {name.partition(".")[0] for name in query.filters.fields()}
            if unknown := sorted(heads - known):
                raise FilterError(f"unknown field {unknown[0]!r}; known are {sorted(known)}")
            found = [d for d in self.documents if query.filters.matches(d.metadata)]
        legs = query.legs(self._capabilities)
        for leg in legs:
            self._check_dimension(leg, query)
        return {leg: list(found[: query.depth]) for leg in legs}

    def _check_dimension(self, leg: str, query: QueryBundle) -> None:
        capability = leg_capability(leg)
        vector = None
        if capability is Capability.DENSE:
            vector = query.vector if leg == "dense" else query.vectors[leg.partition(":")[2]]
        elif capability is Capability.MULTIVECTOR:
            vector = query.multivector
        if vector is not None and vector.shape[-1] != self.dimension:
            raise OrchestrationError(
                f"leg {leg!r}: the query's vector has {vector.shape[-1]} dimensions, "
                f"the store's have {self.dimension}"
            )
