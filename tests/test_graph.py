"""From documents to the passage that only the graph finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from laya_index import BundleReader, parse_stack, process
from laya_retrieval import (
    Bm25Rescorer,
    Candidate,
    DuckDbGraphSource,
    Expander,
    GraphSource,
    MemoryGraphSource,
    MultiHopExpander,
    NetworkxGraphSource,
    Packer,
)

DOCUMENTS = {
    "keeper.md": "For thirty years the keeper of the harbour light was Ada Marsh.",
    "teacher.md": "In later years Ada Marsh taught at the Northgate School (NGS).",
    "school.md": "It is said that NGS was bought by the Tidewater Company.",
    "company.md": "It is known that the Tidewater Company went bankrupt in 1931.",
    "lamps.md": "What became of the lamps? They were sold for scrap, said Old Tom.",
    "bread.md": "What became of the bread? Sourdough wants patience, said Young Ben.",
}
# Its words are on the first page and on some that are no help. The answer is two hops away: the
# keeper's name leads to the school's, and that, which the third page calls by its acronym, to the
# company's.
QUESTION = "what became of the buyer of the place where the keeper of the harbour light worked?"
CHAIN = ("keeper", "teacher", "school")
ANSWER = "company.md#chunk-0"

STACK = """
name: two-hops
source: {{provider: source.files, config: {{root: {root}}}}}
chunk: {{provider: chunker.document}}
redact: {{provider: redact.patterns}}
graph: {{provider: graph.patterns}}
export: {{path: {out}}}
"""


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    root, out = tmp_path / "in", tmp_path / "out"
    root.mkdir()
    for name, text in DOCUMENTS.items():
        (root / name).write_text(text)
    process(parse_stack(STACK.format(root=root, out=out)), workers=1)
    return out


def pool(bundle: Path) -> list[Candidate]:
    """Every passage, scored by its words, with its row's graph columns as metadata."""
    with BundleReader.open(bundle) as reader:
        rows = reader.read("chunks").to_pylist()
    candidates = [
        Candidate(row["record_id"], 0.0, row["content"], {"context_header": row["context_header"]})
        for row in rows
    ]
    return Bm25Rescorer().process(QUESTION, candidates)


def memory(bundle: Path) -> GraphSource:
    with BundleReader.open(bundle) as reader:
        edges = reader.read("graph-edges", ["source", "target"]).to_pylist()
    return MemoryGraphSource((edge["source"], edge["target"]) for edge in edges)


def duckdb(bundle: Path) -> GraphSource:
    pytest.importorskip("duckdb", reason="needs the dependency group `oracles`")
    return DuckDbGraphSource(bundle)


def networkx(bundle: Path) -> GraphSource:
    networkx = pytest.importorskip("networkx", reason="needs the dependency group `oracles`")
    graph = networkx.Graph()
    with BundleReader.open(bundle) as reader:
        for edge in reader.read("graph-edges").to_pylist():
            graph.add_edge(edge["source"], edge["target"], weight=edge["weight"])
    return NetworkxGraphSource(graph)


SOURCES = [
    memory,
    pytest.param(duckdb, marks=pytest.mark.slow),
    pytest.param(networkx, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("source", SOURCES)
def test_a_two_hop_question_lifts_the_passage_that_answers_it(
    bundle: Path, source: Callable[[Path], GraphSource]
) -> None:
    found = pool(bundle)
    assert found[0].id == "keeper.md#chunk-0"
    # By words alone the answer is behind the pages that only sound like it.
    before = [candidate.id for candidate in found]
    assert before.index(ANSWER) > before.index("lamps.md#chunk-0")
    settings = {"seed_top_k": 1, "hop_weight": 10.0}
    expander = MultiHopExpander({**settings, "max_hops": 2}, graph_source=source(bundle))
    lifted = [candidate.id for candidate in expander.process(QUESTION, found)]
    assert set(lifted[:4]) == {*(f"{name}.md#chunk-0" for name in CHAIN), ANSWER}
    # One hop is not enough.
    near = MultiHopExpander({**settings, "max_hops": 1}, graph_source=source(bundle))
    scores = {candidate.id: candidate.score for candidate in near.process(QUESTION, found)}
    plain = {candidate.id: candidate.score for candidate in found}
    gained = {name for name in plain if scores[name] > plain[name]}
    assert gained == {"teacher.md#chunk-0", "school.md#chunk-0"}


def test_one_hop_needs_no_graph_source(bundle: Path) -> None:
    found = pool(bundle)
    plain = {candidate.id: candidate.score for candidate in found}
    expanded = Expander(seed_top_k=1, hop_weight=2.0).process(QUESTION, found)
    scores = {candidate.id: candidate.score for candidate in expanded}
    lifted = {name for name in plain if scores[name] > plain[name]}
    assert lifted == {"teacher.md#chunk-0", "school.md#chunk-0"}


def test_a_packer_can_value_what_is_central(bundle: Path) -> None:
    found = [candidate.with_score(0.5) for candidate in pool(bundle)]
    packer = Packer(budget=20, value_signals={"context_header.kg_node_centrality": 1.0})
    (packed,) = packer.process(QUESTION, found)
    header = packed.metadata["context_header"]
    assert max(header["kg_node_centrality"]) == 1.0


@pytest.mark.slow
def test_every_source_walks_the_same_graph(bundle: Path) -> None:
    with BundleReader.open(bundle) as reader:
        nodes = reader.read("graph-nodes")["node_id"].to_pylist()
    sources = [make(bundle) for make in (memory, duckdb, networkx)]
    for node in nodes:
        first, *others = [source.neighbors([node], 3) for source in sources]
        assert all(other == first for other in others)
