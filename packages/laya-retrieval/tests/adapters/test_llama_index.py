"""Against the real LlamaIndex."""

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("llama_index.core", reason="needs the dependency group `adapters`")

from laya_retrieval import Candidate, OrchestrationPipeline, Reranker  # noqa: E402
from laya_retrieval.adapters.llama_index import LayaPostprocessor, LayaRetriever  # noqa: E402
from laya_retrieval.testing import FakeBackend, FakeCrossEncoder  # noqa: E402
from llama_index.core.postprocessor.types import BaseNodePostprocessor  # noqa: E402
from llama_index.core.retrievers import BaseRetriever  # noqa: E402
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode  # noqa: E402  # noqa: E402
from llama_index.core.schema import QueryBundle as LlamaQuery  # noqa: E402


def nodes():
    one = TextNode(id_="x", text="bread recipe", metadata={"lang": "en"})
    two = TextNode(id_="y", text="revenue and tax", metadata={"lang": "de"})
    two.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id="doc")
    return [NodeWithScore(node=one, score=0.9), NodeWithScore(node=two, score=None)]


def test_nodes_go_through_the_processors():
    post = LayaPostprocessor(processors=[Reranker(model=FakeCrossEncoder())])
    assert isinstance(post, BaseNodePostprocessor)
    result = post.postprocess_nodes(nodes(), query_str="revenue")
    assert [(n.node.node_id, n.score) for n in result] == [("y", 1.0), ("x", 0.0)]
    assert result[0].node.ref_doc_id == "doc"
    assert result[0].node.metadata == {"lang": "de"}


def test_text_is_read_without_its_metadata():
    model = FakeCrossEncoder()
    LayaPostprocessor(processors=[Reranker(model=model)]).postprocess_nodes(nodes(), query_str="q")
    assert model.calls[0][0] == ("q", "bread recipe")


def test_incoming_nodes_are_left_alone():
    given = nodes()
    LayaPostprocessor(processors=[Reranker(model=FakeCrossEncoder())]).postprocess_nodes(
        given, query_str="revenue"
    )
    assert given[0].score == 0.9
    assert given[0].node.metadata == {"lang": "en"}


def test_a_changed_text_becomes_a_new_node():
    class Shortener:
        def process(self, query, candidates):
            return [Candidate(c.id, c.score, c.text[:5], c.metadata) for c in candidates]

    result = LayaPostprocessor(processors=[Shortener()]).postprocess_nodes(nodes(), query_str="q")
    assert [n.node.get_content() for n in result] == ["bread", "reven"]


def test_nothing_gives_nothing():
    post = LayaPostprocessor(processors=[Reranker(model=FakeCrossEncoder())])
    assert post.postprocess_nodes([], query_str="q") == []


def test_the_retriever_runs_every_leg_it_has_a_signal_for():
    retriever = LayaRetriever(FakeBackend(), OrchestrationPipeline(final_top_k=2))
    assert isinstance(retriever, BaseRetriever)
    text_only = retriever.retrieve("revenue")
    both = retriever.retrieve(LlamaQuery("revenue", embedding=[1.0, 0.0, 0.0, 0.0]))
    assert [n.node.node_id for n in both] == ["d0", "d1"]
    assert both[0].score == pytest.approx(2 * text_only[0].score)
