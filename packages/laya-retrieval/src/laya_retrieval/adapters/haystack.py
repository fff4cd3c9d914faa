"""Haystack: processors and `retrieve()` as components.

Importing this module imports `haystack` (extra `haystack`).
"""

# mypy: disable-error-code="import-not-found,misc,unused-ignore,untyped-decorator"

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from laya_signals.errors import ConfigError, MissingExtraError
from laya_signals.registry import ProviderBlock

from laya_retrieval.adapters.convert import (
    applied,
    built,
    plain,
    score_or_rank,
    without_repeats,
)
from laya_retrieval.candidate import Candidate
from laya_retrieval.process.base import Processor
from laya_retrieval.retrieve.backend import RetrievalBackend
from laya_retrieval.retrieve.pipeline import OrchestrationPipeline, retrieve
from laya_retrieval.retrieve.query import QueryBundle

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as error:
    raise MissingExtraError(
        "the Haystack adapter needs haystack-ai: install laya-retrieval[haystack]"
    ) from error


def to_candidate(document: Document, place: int) -> Candidate:
    """A document at `place` (from 1) as a candidate; without a score it gets `1 / place`."""
    metadata = dict(document.meta)
    if document.embedding is not None:
        metadata.setdefault("embedding", document.embedding)
    return Candidate(
        document.id, score_or_rank(document.score, place), document.content or "", metadata
    )


def to_document(candidate: Candidate) -> Document:
    """A candidate as a document; `metadata["embedding"]` becomes its embedding."""
    metadata = plain(dict(candidate.metadata))
    embedding = metadata.pop("embedding", None)
    return Document(
        id=candidate.id,
        content=candidate.text,
        meta=metadata,
        score=candidate.score,
        embedding=embedding,
    )


@component
class LayaRanker:
    """Runs processors over retrieved documents; documents that share an id count once.

    `processors` are objects or provider blocks; a pipeline can be serialised when all are blocks.
    """

    def __init__(self, processors: Sequence[Any]) -> None:
        self.processors = list(processors)
        self._built: list[Processor] = built(self.processors)

    def to_dict(self) -> dict[str, Any]:
        """The component as Haystack writes it; raises `ConfigError` for a processor object."""
        blocks = []
        for given in self.processors:
            if isinstance(given, Processor):
                raise ConfigError(
                    f"LayaRanker: {type(given).__name__} was given as an object; give provider "
                    "blocks to serialise the pipeline"
                )
            blocks.append(ProviderBlock.model_validate(given).model_dump())
        result: dict[str, Any] = default_to_dict(self, processors=blocks)
        return result

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> LayaRanker:
        """The component that `to_dict` wrote."""
        ranker: LayaRanker = default_from_dict(cls, data)
        return ranker

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, list[Document]]:
        """The documents after every processor."""
        candidates = without_repeats(
            [to_candidate(document, place) for place, document in enumerate(documents, start=1)]
        )
        return {"documents": [to_document(c) for c in applied(self._built, query, candidates)]}


@component
class LayaRetriever:
    """Runs `retrieve()` over a backend.

    `query_builder` turns the question into a `QueryBundle`; by default it carries the text and the
    `query_embedding` that an embedder before it has computed.
    """

    def __init__(
        self,
        backend: RetrievalBackend,
        pipeline: OrchestrationPipeline | None = None,
        query_builder: Callable[[str], QueryBundle] | None = None,
    ) -> None:
        self.backend = backend
        self.pipeline = pipeline or OrchestrationPipeline()
        self.query_builder = query_builder

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, query_embedding: list[float] | None = None
    ) -> dict[str, list[Document]]:
        """The documents found for `query`."""
        if self.query_builder is not None:
            bundle = self.query_builder(query)
        else:
            bundle = QueryBundle(text=query, vector=query_embedding)
        result = retrieve(bundle, self.backend, self.pipeline)
        return {"documents": [to_document(candidate) for candidate in result.candidates]}


__all__ = ["LayaRanker", "LayaRetriever", "to_candidate", "to_document"]
