"""The seam of a corpus that can be opened, listed and searched: a bundle, or a store it went to.

A backend is what was opened; a view is what one caller sees of it. Whatever a view returns, counts
or raises depends on the permitted rows alone: a record that is not permitted and one that does not
exist look the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from laya_index.bundle.manifest import Manifest
from laya_retrieval.candidate import Candidate
from laya_retrieval.retrieve.backend import Capability, Legs
from laya_retrieval.retrieve.query import QueryBundle

from laya_rag.access import Access


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as a listing shows it."""

    document_id: str
    title: str
    uri: str
    media_type: str
    characters: int
    chunks: int
    trust_tier: str
    tenants: tuple[str, ...] | None
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Totals:
    """How many documents and chunks a view holds."""

    documents: int
    chunks: int


@runtime_checkable
class CorpusView(Protocol):
    """What one caller may see; a `RetrievalBackend` with listings. Thread-safe."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The legs that can run, and FILTER."""
        ...

    def query(self, text: str, **options: Any) -> QueryBundle:
        """A query with every signal that this corpus can be searched with.

        `options` are keywords of `QueryBundle`; a signal given there is not computed again.
        """
        ...

    def search(self, query: QueryBundle) -> Legs:
        """The permitted candidates of every leg, see `RetrievalBackend.search`."""
        ...

    def totals(self) -> Totals:
        """Documents with at least one permitted chunk, and permitted chunks."""
        ...

    def documents(self, *, after: str | None = None, limit: int = 100) -> list[DocumentRow]:
        """Permitted documents by ascending id, those behind `after`, at most `limit`."""
        ...

    def document(self, document_id: str) -> DocumentRow:
        """One document; raises `NotFoundError`, also for one that is not permitted."""
        ...

    def chunks(
        self, document_id: str, *, after: int | None = None, limit: int | None = None
    ) -> list[Candidate]:
        """A document's permitted chunks by ordinal, behind ordinal `after`, with score 0.

        Raises `NotFoundError`, also for a document that is not permitted.
        """
        ...

    def records(self, record_ids: Sequence[str]) -> list[Candidate]:
        """The chunks with these ids, in this order, with score 0.

        Raises `NotFoundError` naming the first id that is not there or not permitted.
        """
        ...


@runtime_checkable
class CorpusBackend(Protocol):
    """An opened corpus: one snapshot, whatever a writer does meanwhile."""

    @property
    def manifest(self) -> Manifest:
        """The bundle's manifest, also where the rows went to a store."""
        ...

    @property
    def identity(self) -> str:
        """Hex digits that change whenever the corpus does: the SHA-256 of the manifest's text."""
        ...

    def view(self, access: Access) -> CorpusView:
        """What `access` may see; raises `AccessError` when it may see nothing by rule."""
        ...

    def close(self) -> None:
        """Let go of files and connections; a second time does nothing."""
        ...
