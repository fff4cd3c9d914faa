"""LlamaIndex: processors as a node postprocessor, `retrieve()` as a retriever.

Importing this module imports `llama_index.core` (extra `llama-index`).
"""

# mypy: disable-error-code="import-not-found,misc,unused-ignore"

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from laya_signals.errors import MissingExtraError

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
    from llama_index.core.bridge.pydantic import ConfigDict, Field
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
    from llama_index.core.schema import QueryBundle as LlamaQuery
except ImportError as error:
    raise MissingExtraError(
        "the LlamaIndex adapter needs llama-index-core: install laya-retrieval[llama-index]"
    ) from error


def to_candidate(node: NodeWithScore, place: int) -> Candidate:
    """A scored node at `place` (from 1) as a candidate; without a score it gets `1 / place`."""
    inner = node.node
    return Candidate(
        inner.node_id,
        score_or_rank(node.score, place),
        inner.get_content(metadata_mode=MetadataMode.NONE),
        inner.metadata,
    )


def to_node(candidate: Candidate) -> NodeWithScore:
    """A candidate as a scored text node."""
    node = TextNode(id_=candidate.id, text=candidate.text, metadata=plain(dict(candidate.metadata)))
    return NodeWithScore(node=node, score=candidate.score)


class LayaPostprocessor(BaseNodePostprocessor):
    """Runs processors over retrieved nodes.

    `processors` are objects or provider blocks. A node whose text is unchanged keeps its class and
    relationships; nodes that share an id count once.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    processors: Sequence[Any] = Field(default_factory=list)

    def __init__(self, processors: Sequence[Any] = (), **settings: Any) -> None:
        super().__init__(processors=built(processors), **settings)

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex serialises it."""
        return "LayaPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: LlamaQuery | None = None
    ) -> list[NodeWithScore]:
        query = query_bundle.query_str if query_bundle is not None else ""
        candidates = without_repeats(
            [to_candidate(node, place) for place, node in enumerate(nodes, start=1)]
        )
        known = {node.node.node_id: node.node for node in reversed(nodes)}
        texts = {candidate.id: candidate.text for candidate in candidates}
        results = []
        for candidate in applied(self.processors, query, candidates):
            if texts.get(candidate.id) == candidate.text:
                node = known[candidate.id].model_copy()
                node.metadata = plain(dict(candidate.metadata))
                results.append(NodeWithScore(node=node, score=candidate.score))
            else:
                results.append(to_node(candidate))
        return results


class LayaRetriever(BaseRetriever):
    """Runs `retrieve()` over a backend.

    `query_builder` turns the question into a `QueryBundle`; by default it carries the text and,
    where LlamaIndex has computed one, the embedding.
    """

    def __init__(
        self,
        backend: RetrievalBackend,
        pipeline: OrchestrationPipeline | None = None,
        query_builder: Callable[[str], QueryBundle] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.backend = backend
        self.pipeline = pipeline or OrchestrationPipeline()
        self.query_builder = query_builder

    def _retrieve(self, query_bundle: LlamaQuery) -> list[NodeWithScore]:
        if self.query_builder is not None:
            query = self.query_builder(query_bundle.query_str)
        else:
            query = QueryBundle(text=query_bundle.query_str, vector=query_bundle.embedding)
        result = retrieve(query, self.backend, self.pipeline)
        return [to_node(candidate) for candidate in result.candidates]


__all__ = ["LayaPostprocessor", "LayaRetriever", "to_candidate", "to_node"]
