"""Against the real Haystack."""

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("haystack", reason="needs the dependency group `adapters`")

from haystack import Document, Pipeline  # noqa: E402
from laya_retrieval import OrchestrationPipeline, Reranker  # noqa: E402
from laya_retrieval.adapters.haystack import LayaRanker, LayaRetriever  # noqa: E402
from laya_retrieval.testing import FakeBackend, FakeCrossEncoder  # noqa: E402
from laya_signals import ConfigError  # noqa: E402

DOCUMENTS = [
    Document(id="x", content="bread recipe", meta={"lang": "en"}, score=0.9),
    Document(id="y", content="revenue and tax", embedding=[1.0, 0.0]),
]


def test_documents_go_through_the_processors():
    ranker = LayaRanker([Reranker(model=FakeCrossEncoder())])
    result = ranker.run(query="revenue", documents=DOCUMENTS)["documents"]
    assert [(d.id, d.score) for d in result] == [("y", 1.0), ("x", 0.0)]
    assert result[0].embedding == [1.0, 0.0]
    assert result[1].meta == {"lang": "en"}


def test_nothing_gives_nothing():
    assert LayaRanker([Reranker(model=FakeCrossEncoder())]).run("q", [])["documents"] == []


def test_both_components_run_in_a_pipeline():
    pipeline = Pipeline()
    pipeline.add_component("find", LayaRetriever(FakeBackend()))
    pipeline.add_component("rank", LayaRanker([{"provider": "processor.bm25"}]))
    pipeline.connect("find.documents", "rank.documents")
    result = pipeline.run({"find": {"query": "doc 3"}, "rank": {"query": "3"}})
    assert result["rank"]["documents"][0].id == "d3"


def test_a_ranker_of_blocks_can_be_serialised():
    pipeline = Pipeline()
    pipeline.add_component("rank", LayaRanker([{"provider": "processor.dedup"}]))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["laya_retrieval.adapters.haystack"])
    documents = [Document(id="a", content="same"), Document(id="b", content="same ")]
    kept = again.run({"rank": {"query": "q", "documents": documents}})["rank"]["documents"]
    assert [d.id for d in kept] == ["a"]


def test_a_ranker_of_objects_says_why_it_cannot_be_serialised():
    with pytest.raises(ConfigError, match="Reranker"):
        LayaRanker([Reranker(model=FakeCrossEncoder())]).to_dict()


def test_the_retriever_runs_every_leg_it_has_a_signal_for():
    retriever = LayaRetriever(FakeBackend(), OrchestrationPipeline(final_top_k=1))
    [only] = retriever.run("revenue", query_embedding=[1.0, 0.0, 0.0, 0.0])["documents"]
    assert (only.id, only.score) == ("d0", pytest.approx(2 / 61))
