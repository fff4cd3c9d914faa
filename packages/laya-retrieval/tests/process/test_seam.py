"""What every processor promises."""

import pytest
from laya_retrieval import (
    Bm25Rescorer,
    Candidate,
    CoverageSelector,
    Deduplicator,
    DocumentQuota,
    Expander,
    Identity,
    LayaGate,
    MaxSimReranker,
    MultiHopExpander,
    NliGate,
    Processor,
    Reranker,
)
from laya_retrieval.testing import (
    FakeCrossEncoder,
    FakeDecisionModel,
    FakeGraphSource,
    FakeMultiVectorEmbedder,
)


class FakeNli:
    """Entailment grows with the passage's length."""

    def predict(self, sentences):
        return [[0.0, len(text) / 20, 0.0] for text, _ in sentences]


EMBEDDER = FakeMultiVectorEmbedder()
PROCESSORS = [
    Identity(),
    Bm25Rescorer(),
    CoverageSelector(top_k=2),
    Deduplicator(),
    DocumentQuota(documents=2),
    Expander(),
    LayaGate(model=FakeDecisionModel()),
    MaxSimReranker(embedder=EMBEDDER),
    MultiHopExpander(graph_source=FakeGraphSource([("n0", "n1")])),
    NliGate(model=FakeNli()),
    Reranker(model=FakeCrossEncoder()),
]


def pool():
    return [
        Candidate(
            f"d{i}#0",
            1 - i / 10,
            text,
            {
                "kg_node_ids": [f"n{i}"],
                "neighbor_node_ids": ["n1"],
                "multivectors": EMBEDDER.encode_query(text),
            },
        )
        for i, text in enumerate(["revenue tax", "sourdough bread", "tax filing revenue"])
    ]


@pytest.mark.parametrize("processor", PROCESSORS, ids=lambda p: type(p).__name__)
class TestEveryProcessor:
    def test_implements_the_seam(self, processor):
        assert isinstance(processor, Processor)

    def test_gives_nothing_for_nothing(self, processor):
        assert processor.process("revenue", []) == []

    def test_leaves_its_input_alone(self, processor):
        given = pool()
        kept = [(c.id, c.score, c.text, sorted(c.metadata)) for c in given]
        processor.process("revenue tax", given)
        assert [(c.id, c.score, c.text, sorted(c.metadata)) for c in given] == kept

    def test_remembers_nothing(self, processor):
        first = [(c.id, c.score) for c in processor.process("revenue tax", pool())]
        processor.process("bread", pool())
        assert [(c.id, c.score) for c in processor.process("revenue tax", pool())] == first

    def test_invents_no_candidate(self, processor):
        known = {c.id for c in pool()}
        results = [c.id for c in processor.process("revenue tax", pool())]
        assert set(results) <= known
        assert len(set(results)) == len(results)
