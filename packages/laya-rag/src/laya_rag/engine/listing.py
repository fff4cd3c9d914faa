"""What a corpus holds, page by page, as far as one caller may see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laya_index.bundle.manifest import Manifest
from laya_retrieval.candidate import Candidate

from laya_rag.backend.base import DocumentRow
from laya_rag.engine.corpus import SCHEMA_VERSION, CorpusIdentity
from laya_rag.engine.passage import chunk_json


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Documents by ascending id; `after` asks for the next page, None where this is the last."""

    documents: tuple[DocumentRow, ...]
    after: str | None

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "version": SCHEMA_VERSION,
            "documents": [document_json(row) for row in self.documents],
            "after": self.after,
        }


@dataclass(frozen=True, slots=True)
class ChunkPage:
    """A document and its chunks by ordinal; `after` as in `DocumentPage`, an ordinal."""

    document: DocumentRow
    chunks: tuple[Candidate, ...]
    after: int | None

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "version": SCHEMA_VERSION,
            "document": document_json(self.document),
            "chunks": [chunk_json(chunk) for chunk in self.chunks],
            "after": self.after,
        }


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """How much there is, and what it can be searched with."""

    corpus: CorpusIdentity
    documents: int
    chunks: int
    legs: tuple[str, ...]
    models: Mapping[str, str]
    #: Of the corpus as a whole; None for whoever sees some tenants only.
    whole: Manifest | None

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        whole = self.whole
        return {
            "version": SCHEMA_VERSION,
            "bundle": self.corpus.to_json(),
            "documents": self.documents,
            "chunks": self.chunks,
            "legs": list(self.legs),
            "models": dict(self.models),
            "whole": None
            if whole is None
            else {
                "documents": whole.counts.documents,
                "chunks": whole.counts.chunks,
                "terms": whole.counts.terms,
                "skipped": dict(whole.counts.skipped),
                "redactions": dict(whole.counts.redactions),
                "tenants": None if whole.tenants is None else list(whole.tenants),
                "files": len(whole.files),
                "bytes": sum(entry.bytes for entry in whole.files),
            },
        }


def document_json(row: DocumentRow) -> dict[str, Any]:
    """A document as a listing shows it."""
    return {
        "document_id": row.document_id,
        "title": row.title,
        "uri": row.uri,
        "media_type": row.media_type,
        "characters": row.characters,
        "chunks": row.chunks,
        "trust_tier": row.trust_tier,
        "tenants": None if row.tenants is None else list(row.tenants),
        "metadata": dict(row.metadata),
    }
