"""Whole search systems of other libraries, put together as their guides do it.

Both fuse BM25 and vectors by reciprocal rank and hold everything in memory. With `chars`, documents
are split with the library's own splitter before they are added; without, each is a passage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from laya_rag.config import SearchSettings

from laya_eval.bench.peers import FAISS, HAYSTACK, LANGCHAIN, SPLITTERS, Peer

#: From texts to unit vectors, as the library asks for them.
Embed = Callable[[Sequence[str]], list[list[float]]]

#: Candidates of each leg, and passages at the end: what the engine's settings ship with.
DEPTH, KEEP = SearchSettings().depth, SearchSettings().keep
_BATCH = 1000


class Rival(Protocol):
    """A system that is ready to be asked."""

    def search(self, query: str) -> list[str]:
        """The ids of the best documents by both legs."""
        ...

    def dense(self, query: str, count: int) -> list[str]:
        """The ids of the nearest documents."""
        ...


class LangChainEnsemble:
    """`EnsembleRetriever` over `BM25Retriever` (rank_bm25) and a flat `FAISS` store."""

    def __init__(
        self, texts: Mapping[str, str], embed: Embed, queries: Embed, chars: int | None = None
    ) -> None:
        retrievers = LANGCHAIN.load()
        embeddings = LANGCHAIN.load("langchain_core.embeddings").Embeddings
        LANGCHAIN.load("rank_bm25")

        class Vectors(embeddings):  # type: ignore[misc, valid-type]
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return embed(texts)

            def embed_query(self, text: str) -> list[float]:
                return queries([text])[0]

        document = LANGCHAIN.load("langchain_core.documents").Document
        documents = [
            document(page_content=text, metadata={"document_id": name})
            for name, text in texts.items()
        ]
        if chars is not None:
            splitter = SPLITTERS.load().RecursiveCharacterTextSplitter(
                chunk_size=chars, chunk_overlap=0
            )
            documents = splitter.split_documents(documents)
        self._store: Any = None
        for some in _batches(documents):
            if self._store is None:
                self._store = FAISS.load().FAISS.from_documents(some, Vectors())
            else:
                self._store.add_documents(some)
        lexical = FAISS.load("langchain_community.retrievers").BM25Retriever
        self._ensemble = retrievers.EnsembleRetriever(
            retrievers=[
                lexical.from_documents(documents, k=DEPTH, preprocess_func=_words),
                self._store.as_retriever(search_kwargs={"k": DEPTH}),
            ],
            weights=[0.5, 0.5],
        )

    def search(self, query: str) -> list[str]:
        """The ids of the best documents by both legs."""
        return [item.metadata["document_id"] for item in self._ensemble.invoke(query)[:KEEP]]

    def dense(self, query: str, count: int) -> list[str]:
        """The ids of the nearest documents."""
        found = self._store.similarity_search(query, k=count)
        return [item.metadata["document_id"] for item in found]


class HaystackHybrid:
    """A `Pipeline` of the in-memory store's two retrievers and a `DocumentJoiner`."""

    def __init__(
        self, texts: Mapping[str, str], embed: Embed, queries: Embed, chars: int | None = None
    ) -> None:
        haystack = HAYSTACK.load()
        retrievers = HAYSTACK.load("haystack.components.retrievers.in_memory")
        joiners = HAYSTACK.load("haystack.components.joiners")
        stores = HAYSTACK.load("haystack.document_stores.in_memory")
        self._queries = queries
        store = stores.InMemoryDocumentStore()
        documents = [
            haystack.Document(content=text, meta={"document_id": name})
            for name, text in texts.items()
        ]
        if chars is not None:
            splitter = HAYSTACK.load("haystack.components.preprocessors").RecursiveDocumentSplitter(
                split_length=chars, split_unit="char", separators=["\n\n", "\n", " "]
            )
            documents = splitter.run(documents)["documents"]
        for some in _batches(documents):
            vectors = embed([document.content for document in some])
            store.write_documents(
                [replace(document, embedding=v) for document, v in zip(some, vectors, strict=True)]
            )
        self._dense = retrievers.InMemoryEmbeddingRetriever(store, top_k=DEPTH)
        self._pipeline = haystack.Pipeline()
        self._pipeline.add_component(
            "lexical", retrievers.InMemoryBM25Retriever(store, top_k=DEPTH)
        )
        self._pipeline.add_component("dense", self._dense)
        self._pipeline.add_component(
            "joiner", joiners.DocumentJoiner("reciprocal_rank_fusion", top_k=KEEP)
        )
        self._pipeline.connect("lexical", "joiner")
        self._pipeline.connect("dense", "joiner")

    def search(self, query: str) -> list[str]:
        """The ids of the best documents by both legs."""
        vector = self._queries([query])[0]
        found = self._pipeline.run(
            {"lexical": {"query": query}, "dense": {"query_embedding": vector}}
        )
        return [item.meta["document_id"] for item in found["joiner"]["documents"]]

    def dense(self, query: str, count: int) -> list[str]:
        """The ids of the nearest documents."""
        found = self._dense.run(query_embedding=self._queries([query])[0], top_k=count)
        return [item.meta["document_id"] for item in found["documents"]]


#: By what each needs installed; both raise `MissingPeerError`.
RIVALS: dict[Peer, Callable[..., Rival]] = {
    LANGCHAIN: LangChainEnsemble,
    HAYSTACK: HaystackHybrid,
}


def _words(text: str) -> list[str]:
    return text.lower().split()


def _batches(items: Sequence[Any]) -> list[list[Any]]:
    return [list(items[start : start + _BATCH]) for start in range(0, len(items), _BATCH)]
