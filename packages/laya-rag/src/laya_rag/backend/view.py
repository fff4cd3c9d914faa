"""What one caller sees of a bundle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import OrchestrationError
from laya_retrieval.filters import Filter, parse_filter
from laya_retrieval.retrieve.backend import Capability
from laya_retrieval.retrieve.query import QueryBundle
from numpy.typing import NDArray

from laya_rag.backend.base import DocumentRow, Totals
from laya_rag.backend.ranking import Ranked, best
from laya_rag.backend.scope import Scope
from laya_rag.backend.snapshot import Snapshot
from laya_rag.errors import ModelMismatchError, NotFoundError


class BundleView:
    """A `CorpusView` of the chunks in `scope`.

    Everything it returns, counts and raises is what a bundle of those chunks alone would give: the
    statistics of BM25, and the vectors that are read, are those of the scope. Approximate search is
    for who may see everything.
    """

    def __init__(self, snapshot: Snapshot, scope: Scope) -> None:
        self._snapshot = snapshot
        self._scope = scope

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The legs that the bundle has signals for, and FILTER."""
        return self._snapshot.capabilities

    def query(self, text: str, **options: Any) -> QueryBundle:
        """A query with every signal that this bundle can be searched with."""
        return self._snapshot.models.query(text, self.capabilities, **options)

    def search(self, query: QueryBundle) -> dict[str, list[Candidate]]:
        """The best `query.depth` chunks of every leg, by descending score, ties by id.

        BM25 and sparse legs return only chunks that share a term or an index with the query, the
        others any chunk. Raises `FilterError` for a field that chunks lack, `ModelMismatchError`
        for a vector of another dimension than the bundle's, and `OrchestrationError` for a dense
        leg that the bundle does not have.
        """
        allowed = self._scope.narrowed(self._matching(query.filters))
        try:
            return {
                leg: self._snapshot.candidates(self._leg(leg, query, allowed))
                for leg in query.legs(self.capabilities)
            }
        finally:
            self._snapshot.arrays.release()

    def _matching(self, filters: Filter | None) -> NDArray[np.bool_] | None:
        if filters is None:
            return None
        columns = self._snapshot.columns
        return columns.matching(parse_filter(filters, fields=columns.names))

    def _leg(self, leg: str, query: QueryBundle, allowed: NDArray[np.bool_] | None) -> Ranked:
        snapshot, whole = self._snapshot, self._scope.mask is None
        if leg == Capability.BM25.value and snapshot.lexical and snapshot.models.tokenizer:
            terms = snapshot.models.tokenizer.tokenize(query.text)
            scores = snapshot.lexical.scores(terms, self._scope)
            return self._best(scores, scores > 0, query.depth, allowed)
        if leg == Capability.SPARSE.value and snapshot.sparse and query.sparse_terms is not None:
            scores, touched = snapshot.sparse.scores(query.sparse_terms)
            return self._best(scores, touched, query.depth, allowed)
        if leg == Capability.MULTIVECTOR.value and query.multivector is not None:
            _same_dimension(leg, query.multivector, snapshot.token_dimension)
            index = snapshot.multivectors(whole=whole)
            return index.top(query.multivector, snapshot.models.fde, query.depth, allowed)
        vector = query.vector if leg == "dense" else query.vectors[leg.partition(":")[2]]
        column = snapshot.dense.get(leg)
        if column is None or vector is None:
            raise OrchestrationError(
                f"leg {leg!r}: this bundle has no such embedding; it has "
                f"{', '.join(sorted(snapshot.dense))}"
            )
        _same_dimension(leg, vector, snapshot.exact[column].dimension)
        return snapshot.vectors(column, whole=whole).top(vector, query.depth, allowed)

    def _best(
        self,
        scores: NDArray[np.float64],
        found: NDArray[np.bool_],
        depth: int,
        allowed: NDArray[np.bool_] | None,
    ) -> Ranked:
        rows = np.flatnonzero(found if allowed is None else found & allowed)
        return best(scores[rows], rows, depth, self._snapshot.places)

    def totals(self) -> Totals:
        """Documents with at least one permitted chunk, and permitted chunks."""
        return Totals(self._snapshot.documents.count(self._scope), self._scope.count)

    def documents(self, *, after: str | None = None, limit: int = 100) -> list[DocumentRow]:
        """Permitted documents by ascending id, those behind `after`, at most `limit`."""
        documents = self._snapshot.documents
        return [
            documents.row(place, self._scope) for place in documents.page(self._scope, after, limit)
        ]

    def document(self, document_id: str) -> DocumentRow:
        """One document; raises `NotFoundError`, also for one that is not permitted."""
        return self._snapshot.documents.row(self._place(document_id), self._scope)

    def chunks(
        self, document_id: str, *, after: int | None = None, limit: int | None = None
    ) -> list[Candidate]:
        """A document's permitted chunks by ordinal, behind ordinal `after`, with score 0."""
        rows = self._snapshot.documents.chunks(self._place(document_id), self._scope)
        if after is not None:
            ordinals = self._snapshot.columns["ordinal"].take(rows)
            rows = rows[np.array(ordinals, np.int64) > after]
        return self._unscored(rows[:limit])

    def records(self, record_ids: Sequence[str]) -> list[Candidate]:
        """The chunks with these ids, in this order, with score 0.

        Raises `NotFoundError` naming the first id that is not there or not permitted.
        """
        rows = []
        for record_id in record_ids:
            row = self._snapshot.records.find(record_id)
            if row is None or not self._scope.permits(row):
                raise NotFoundError(f"no chunk {record_id!r}")
            rows.append(row)
        return self._unscored(np.array(rows, np.int64))

    def _place(self, document_id: str) -> int:
        place = self._snapshot.documents.find(document_id, self._scope)
        if place is None:
            raise NotFoundError(f"no document {document_id!r}")
        return place

    def _unscored(self, rows: NDArray[np.int64]) -> list[Candidate]:
        return self._snapshot.candidates(Ranked(rows, np.zeros(len(rows))))


def _same_dimension(leg: str, query: NDArray[np.float32], dimension: int) -> None:
    if query.shape[-1] != dimension:
        raise ModelMismatchError(
            f"leg {leg!r}: the query's vector has {query.shape[-1]} components, the bundle's have "
            f"{dimension}"
        )
