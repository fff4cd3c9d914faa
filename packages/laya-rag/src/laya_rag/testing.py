"""A corpus in memory that keeps the rules of a real one, and a model that waits."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from laya_index.bundle.manifest import Counts, Manifest, StackEntry
from laya_retrieval.candidate import Candidate, ranked
from laya_retrieval.filters import And, Filter, parse_filter
from laya_retrieval.process.group import document_of
from laya_retrieval.retrieve.backend import Capability
from laya_retrieval.retrieve.query import QueryBundle
from laya_retrieval.testing import FakeDecisionModel
from numpy.typing import NDArray

from laya_rag.access import Access
from laya_rag.backend.base import DocumentRow, Totals
from laya_rag.errors import NotFoundError

#: What a candidate from a corpus always carries.
FIELDS = (
    *("document_id", "ordinal", "start", "end", "title", "heading_path", "media_type"),
    *("trust_tier", "tenants"),
)
DIMENSION = 32


def chunk(
    record_id: str,
    text: str,
    *,
    title: str = "",
    start: int = 0,
    tier: str = "trusted",
    tenants: Collection[str] | None = None,
) -> Candidate:
    """A row `<document>#chunk-<ordinal>` with everything that a real corpus gives it."""
    document, _, ordinal = record_id.partition("#chunk-")
    return Candidate(
        record_id,
        0.0,
        text,
        {
            "document_id": document,
            "ordinal": int(ordinal or 0),
            "start": start,
            "end": start + len(text),
            "title": title or document,
            "heading_path": [],
            "media_type": "text/plain",
            "trust_tier": tier,
            "tenants": None if tenants is None else sorted(tenants),
        },
    )


class MemoryCorpus:
    """Rows to list and to search; the legs bm25 (words in common) and dense (hashed words).

    Tenants are kept apart as soon as one row has some. `searches` and `encoded` hold what the
    views were asked for.
    """

    def __init__(self, rows: Sequence[Candidate]) -> None:
        self.rows = tuple(sorted(rows, key=lambda row: row.id))
        self.searches: list[QueryBundle] = []
        self.encoded: list[str] = []
        owners = [row.metadata["tenants"] for row in rows if row.metadata["tenants"] is not None]
        self.manifest = Manifest(
            stack=StackEntry(name="memory", hash="0" * 16),
            counts=Counts(
                documents=len({document_of(row) for row in rows}),
                chunks=len(rows),
                terms=0,
                skipped={},
                redactions={},
            ),
            components={},
            tenants=sorted({name for names in owners for name in names}) if owners else None,
            bm25=None,
            embeddings={},
            files=[],
        )

    @property
    def identity(self) -> str:
        """The SHA-256 of the rows."""
        return hashlib.sha256(repr(self.rows).encode()).hexdigest()

    def view(self, access: Access) -> MemoryView:
        """What `access` may see; raises `AccessError` when it may see nothing by rule."""
        rules = access.rules(self.manifest.tenants is not None)
        allowed = And(tuple(rules))
        return MemoryView(self, tuple(row for row in self.rows if allowed.matches(row.metadata)))

    def close(self) -> None:
        """Nothing to let go of."""


class MemoryView:
    """The rows that one caller may see; see `CorpusView`."""

    def __init__(self, corpus: MemoryCorpus, rows: tuple[Candidate, ...]) -> None:
        self._corpus = corpus
        self._rows = rows

    @property
    def capabilities(self) -> frozenset[Capability]:
        """BM25, DENSE and FILTER."""
        return frozenset({Capability.BM25, Capability.DENSE, Capability.FILTER})

    def query(self, text: str, **options: Any) -> QueryBundle:
        """The query with its vector."""
        self._corpus.encoded.append(text)
        return QueryBundle(text=text, **{"vector": _vector(text), **options})

    def search(self, query: QueryBundle) -> dict[str, list[Candidate]]:
        """Each leg over the rows that match the filter."""
        self._corpus.searches.append(query)
        rows = self._matching(query.filters)
        asked = set(_words(query.text))
        legs: dict[str, list[Candidate]] = {}
        for leg in query.legs(self.capabilities):
            if leg == "bm25":
                scores = [float(len(asked & set(_words(row.text)))) for row in rows]
            else:
                vector = _vector(query.text) if query.vector is None else query.vector
                scores = [float(_vector(row.text) @ vector) for row in rows]
            scored = [row.with_score(s) for row, s in zip(rows, scores, strict=True)]
            found = ranked(row for row in scored if leg != "bm25" or row.score > 0)
            legs[leg] = found[: query.depth]
        return legs

    def totals(self) -> Totals:
        """Documents and chunks."""
        return Totals(len({document_of(row) for row in self._rows}), len(self._rows))

    def documents(self, *, after: str | None = None, limit: int = 100) -> list[DocumentRow]:
        """Documents by id."""
        ids = sorted({document_of(row) for row in self._rows})
        wanted = [name for name in ids if after is None or name > after][:limit]
        return [self.document(name) for name in wanted]

    def document(self, document_id: str) -> DocumentRow:
        """One document; raises `NotFoundError`."""
        rows = self.chunks(document_id)
        first = rows[0].metadata
        return DocumentRow(
            document_id=document_id,
            title=first["title"],
            uri="",
            media_type=first["media_type"],
            characters=max(row.metadata["end"] for row in rows),
            chunks=len(rows),
            trust_tier=first["trust_tier"],
            tenants=None if first["tenants"] is None else tuple(first["tenants"]),
            metadata={},
        )

    def chunks(
        self, document_id: str, *, after: int | None = None, limit: int | None = None
    ) -> list[Candidate]:
        """A document's chunks by ordinal; raises `NotFoundError`."""
        rows = [row for row in self._rows if document_of(row) == document_id]
        if not rows:
            raise NotFoundError(f"no document {document_id!r}")
        rows.sort(key=lambda row: int(row.metadata["ordinal"]))
        return [row for row in rows if after is None or row.metadata["ordinal"] > after][:limit]

    def records(self, record_ids: Sequence[str]) -> list[Candidate]:
        """The chunks with these ids; raises `NotFoundError`."""
        rows = {row.id: row for row in self._rows}
        for record_id in record_ids:
            if record_id not in rows:
                raise NotFoundError(f"no chunk {record_id!r}")
        return [rows[record_id] for record_id in record_ids]

    def _matching(self, filters: Filter | None) -> list[Candidate]:
        if filters is None:
            return list(self._rows)
        parse_filter(filters, fields=FIELDS)
        return [row for row in self._rows if filters.matches(row.metadata)]


class HeldModel(FakeDecisionModel):
    """Answers .9 once `go` is set; `began` is set and `count` goes up when a call begins.

    Raises `TimeoutError` when nobody lets it go within 20 seconds.
    """

    def __init__(self) -> None:
        super().__init__(lambda state, question: 0.9)  # noqa: ARG005
        self.began = threading.Event()
        self.go = threading.Event()
        self.count = 0

    def predict_batch(self, states: Any, questions: Any) -> Any:
        """As `FakeDecisionModel` does, later."""
        self.count += 1
        self.began.set()
        if not self.go.wait(20):
            raise TimeoutError("nobody let the model go")
        return super().predict_batch(states, questions)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _vector(text: str) -> NDArray[np.float32]:
    """Counts of hashed words, of unit length, `(DIMENSION,)` float32; zero without a word."""
    vector = np.zeros(DIMENSION, dtype=np.float32)
    for word in _words(text):
        vector[hashlib.sha256(word.encode()).digest()[0] % DIMENSION] += 1
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length or 1.0)
