from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from laya_index.bundle.manifest import read_manifest
from laya_rag.validate.kg import check_kg, graph_problems
from laya_rag.validate.trial import Trial


def test_a_graph_as_it_was_built_holds_together(everything: Trial) -> None:
    finding = check_kg(everything)
    assert finding.problems == ()
    assert "communities" in finding.detail


def test_a_stack_without_a_graph_passes(trial_of: Callable[..., Trial]) -> None:
    assert check_kg(trial_of()).detail == "not wired"


def header(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda old: {**old, **changes}


@pytest.mark.parametrize(
    ("kind", "column", "value", "said"),
    [
        ("graph-nodes", "centrality", 0.0, "centrality is 0.0, not in (0, 1]"),
        ("graph-nodes", "pagerank", 1.5, "pagerank is 1.5, not in (0, 1]"),
        ("graph-nodes", "centrality", 0.123, "centrality is not pagerank"),
        ("graph-nodes", "confidence", float("nan"), "confidence is nan"),
        ("graph-nodes", "community", 10_000, "there is no community 10000"),
        ("graph-nodes", "node_id", "zzz", "node ids do not ascend"),
        ("graph-nodes", "source_documents", ["nobody"], "document 'nobody' is not in the bundle"),
        ("graph-nodes", "document_count", 0, "document_count is 0"),
        ("graph-nodes", "mention_count", 0, "mention_count is 0"),
        ("graph-edges", "target", "zzz", "there is no node 'zzz'"),
        ("graph-edges", "source", "zzz", "its ends are not in order"),
        ("graph-edges", "weight", 0.0, "its weight is 0.0"),
        ("graph-edges", "evidence", ["x#chunk-0"], "its evidence 'x#chunk-0' is no record"),
        ("graph-edges", "evidence_count", 0, "evidence_count is 0"),
        ("chunks", "context_header", header(neighbor_node_ids=["x"]), "there is no node 'x'"),
        ("chunks", "context_header", header(kg_node_centrality=[]), "kg_node_centrality is not"),
        ("chunks", "context_header", header(kg_node_community=[]), "kg_node_community is not"),
        (
            "chunks",
            "context_header",
            lambda old: {**old, "neighbor_node_ids": old["kg_node_ids"]},
            "is no neighbour of its nodes",
        ),
    ],
)
def test_a_changed_value_is_told(
    kind: str, column: str, value: Any, said: str, copied: Path, tamper: SimpleNamespace
) -> None:
    row = _row_with_nodes(copied) if kind == "chunks" else 0
    tamper.change_rows(copied, kind, tamper.set_value(column, row, value))
    found = list(graph_problems(copied, read_manifest(copied)))
    assert any(said in text for text in found), found


def _row_with_nodes(bundle: Path) -> int:
    import pyarrow.parquet as pq

    (entry,) = read_manifest(bundle).of_kind("chunks")
    headers = pq.read_table(bundle / entry.path)["context_header"].to_pylist()
    return next(row for row, found in enumerate(headers) if found["kg_node_ids"])


def test_a_missing_node_is_missed_by_the_manifest_and_by_the_edges(
    copied: Path, tamper: SimpleNamespace
) -> None:
    tamper.change_rows(copied, "graph-nodes", lambda table: table.slice(1))
    found = " ".join(graph_problems(copied, read_manifest(copied)))
    assert "manifest.json: the graph has" in found
    assert "there is no node" in found
