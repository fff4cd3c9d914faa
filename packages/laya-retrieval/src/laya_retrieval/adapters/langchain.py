"""LangChain: processors as a document compressor, `retrieve()` as a retriever.

Importing this module imports `langchain_core` (extra `langchain`).
"""

# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from laya_signals.errors import MissingExtraError
from pydantic import ConfigDict, Field

from laya_retrieval.adapters.convert import (
    applied,
    built,
    plain,
    score_or_rank,
    without_repeats,
)
from laya_retrieval.candidate import Candidate
from laya_retrieval.retrieve.backend import RetrievalBackend
from laya_retrieval.retrieve.pipeline import OrchestrationPipeline, retrieve
from laya_retrieval.retrieve.query import QueryBundle

try:
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise MissingExtraError(
        "the LangChain adapter needs langchain-core: install laya-retrieval[langchain]"
    ) from error

#: Document metadata under which the score comes in (where present) and goes out.
SCORE_KEY = "relevance_score"


def to_candidate(document: Document, place: int) -> Candidate:
    """A document at `place` (from 1) as a candidate.

    Its id is the document's, else `metadata["id"]`, else `document-<place>`; its score is
    `metadata["relevance_score"]`, else `1 / place`.
    """
    named = document.id or document.metadata.get("id") or f"document-{place}"
    return Candidate(
        str(named),
        score_or_rank(document.metadata.get(SCORE_KEY), place),
        document.page_content,
        document.metadata,
    )


def to_document(candidate: Candidate) -> Document:
    """A candidate as a document, its score under `metadata["relevance_score"]`."""
    metadata = {**plain(candidate.metadata), SCORE_KEY: candidate.score}
    return Document(id=candidate.id, page_content=candidate.text, metadata=metadata)


class LayaCompressor(BaseDocumentCompressor):
    """Runs processors over retrieved documents; for `ContextualCompressionRetriever` and alike.

    `processors` are objects or provider blocks. Documents that share an id count once.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    processors: Sequence[Any] = Field(default_factory=list)

    def model_post_init(self, context: Any, /) -> None:
        """Build what was given as a block, so that a mistake shows at once."""
        super().model_post_init(context)
        self.processors = built(self.processors)

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Any = None,  # noqa: ARG002
    ) -> list[Document]:
        """The documents after every processor."""
        candidates = without_repeats(
            [to_candidate(document, place) for place, document in enumerate(documents, start=1)]
        )
        return [to_document(c) for c in applied(self.processors, query, candidates)]


class LayaRetriever(BaseRetriever):
    """Runs `retrieve()` over a backend.

    `query_builder` turns the question into a `QueryBundle` with the signals that the legs need;
    by default it carries the text alone, which is enough for a BM25 leg.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    backend: RetrievalBackend
    pipeline: OrchestrationPipeline = Field(default_factory=OrchestrationPipeline)
    query_builder: Callable[[str], QueryBundle] = lambda text: QueryBundle(text=text)

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:  # noqa: ARG002
        result = retrieve(self.query_builder(query), self.backend, self.pipeline)
        return [to_document(candidate) for candidate in result.candidates]


__all__ = ["SCORE_KEY", "LayaCompressor", "LayaRetriever", "to_candidate", "to_document"]
