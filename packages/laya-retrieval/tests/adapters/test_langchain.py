"""Against the real LangChain."""

import json

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("langchain_core", reason="needs the dependency group `adapters`")

from langchain_core.documents import BaseDocumentCompressor, Document  # noqa: E402
from langchain_core.retrievers import BaseRetriever  # noqa: E402
from langchain_core.runnables import RunnableLambda  # noqa: E402
from laya_retrieval import (  # noqa: E402
    OrchestrationPipeline,
    QueryBundle,
    Reranker,
    RrfFuser,
)
from laya_retrieval.adapters.langchain import LayaCompressor, LayaRetriever  # noqa: E402
from laya_retrieval.testing import FakeBackend, FakeCrossEncoder  # noqa: E402
from laya_signals import RegistryError  # noqa: E402

DOCUMENTS = [
    Document(id="x", page_content="bread recipe", metadata={"lang": "en"}),
    Document(id="y", page_content="revenue and tax", metadata={"lang": "de"}),
    Document(id="x", page_content="bread recipe"),
]


def test_documents_go_through_the_processors():
    compressor = LayaCompressor(processors=[Reranker(model=FakeCrossEncoder())])
    assert isinstance(compressor, BaseDocumentCompressor)
    result = compressor.compress_documents(DOCUMENTS, "revenue")
    assert [(d.id, d.metadata) for d in result] == [
        ("y", {"lang": "de", "relevance_score": 1.0}),
        ("x", {"lang": "en", "relevance_score": 0.0}),
    ]
    assert DOCUMENTS[0].metadata == {"lang": "en"}


def test_documents_without_ids_stay_apart():
    same = [Document(page_content="a", metadata={"n": 1}), Document(page_content="a")]
    compressor = LayaCompressor(processors=[{"provider": "processor.identity"}])
    assert [d.id for d in compressor.compress_documents(same, "q")] == ["document-1", "document-2"]


def test_nothing_gives_nothing():
    compressor = LayaCompressor(processors=[Reranker(model=FakeCrossEncoder())])
    assert compressor.compress_documents([], "q") == []


def test_a_mistake_in_a_block_shows_at_once():
    with pytest.raises(RegistryError):
        LayaCompressor(processors=[{"provider": "processor.nope"}])


def test_the_retriever_is_a_runnable():
    retriever = LayaRetriever(
        backend=FakeBackend(),
        pipeline=OrchestrationPipeline(fuser=RrfFuser(explain=True), final_top_k=2),
        query_builder=lambda text: QueryBundle(text=text, vector=[1.0, 0.0, 0.0, 0.0]),
    )
    assert isinstance(retriever, BaseRetriever)
    documents = (RunnableLambda(lambda q: q.strip()) | retriever).invoke(" revenue ")
    assert [d.id for d in documents] == ["d0", "d1"]
    assert documents[0].metadata["relevance_score"] == pytest.approx(2 / 61)
    assert json.loads(json.dumps(documents[0].metadata))["fusion"][0]["leg"] == "bm25"


def test_the_retriever_works_with_text_alone():
    assert len(LayaRetriever(backend=FakeBackend()).invoke("revenue")) == 6


@pytest.mark.parametrize("score", [0.25, None])
def test_an_incoming_score_is_read_where_there_is_one(score):
    metadata = {} if score is None else {"relevance_score": score}
    compressor = LayaCompressor(processors=[])
    [document] = compressor.compress_documents([Document(page_content="a", metadata=metadata)], "q")
    assert document.metadata["relevance_score"] == (score or 1.0)
