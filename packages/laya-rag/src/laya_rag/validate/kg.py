"""The graph, where the stack wires one: everything it refers to is there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from laya_index.bundle.manifest import FILE_NAME, GraphEntry, Manifest, read_manifest
from laya_index.bundle.schema import HEADER_COLUMN

from laya_rag.validate.base import Finding, counted, first_of
from laya_rag.validate.trial import Trial

Rows = list[dict[str, Any]]


def check_kg(trial: Trial) -> Finding:
    """Nodes, edges and context headers of the first bundle; a stack without a graph passes."""
    bundle = trial.first
    manifest = read_manifest(bundle)
    if manifest.graph is None:
        return Finding("not wired")
    return Finding(
        f"{counted(manifest.graph.nodes, 'node')}, {counted(manifest.graph.edges, 'edge')}, "
        f"{manifest.graph.communities} communities",
        first_of(graph_problems(bundle, manifest)),
    )


def graph_problems(bundle: Path, manifest: Manifest) -> Iterator[str]:
    """Everything in which the graph of `bundle` does not hold together."""
    graph = manifest.graph
    if graph is None:
        return
    columns = ["record_id", "document_id", HEADER_COLUMN]
    chunks = _rows(bundle, manifest, "chunks", columns)
    nodes = {row["node_id"]: row for row in _rows(bundle, manifest, "graph-nodes")}
    edges = _rows(bundle, manifest, "graph-edges")
    if (len(nodes), len(edges)) != (graph.nodes, graph.edges):
        yield (
            f"{FILE_NAME}: the graph has {graph.nodes} nodes and {graph.edges} edges, the files "
            f"{len(nodes)} and {len(edges)}"
        )
    yield from _node_problems(nodes, graph, {row["document_id"] for row in chunks})
    yield from _edge_problems(edges, nodes, {row["record_id"] for row in chunks})
    yield from _header_problems(chunks, nodes, edges)


def _rows(bundle: Path, manifest: Manifest, kind: str, columns: list[str] | None = None) -> Rows:
    found: Rows = []
    for entry in manifest.of_kind(kind):
        found += pq.read_table(bundle / entry.path, columns=columns).to_pylist()
    return found


def _node_problems(
    nodes: Mapping[str, dict[str, Any]], graph: GraphEntry, documents: set[str]
) -> Iterator[str]:
    if any(a >= b for a, b in pairwise(nodes)):
        yield "graph-nodes: node ids do not ascend"
    for name, node in nodes.items():
        for column in ("centrality", "confidence", *_features(node)):
            if not 0 < node[column] <= 1:
                yield f"node {name!r}: {column} is {node[column]}, not in (0, 1]"
        if node["centrality"] != node.get(graph.centrality, node["centrality"]):
            yield f"node {name!r}: centrality is not {graph.centrality}"
        if not 0 <= node["community"] < graph.communities:
            yield f"node {name!r}: there is no community {node['community']}"
        for document in set(node["source_documents"]) - documents:
            yield f"node {name!r}: its document {document!r} is not in the bundle"
        counts = (
            ("document_count", "source_documents"),
            ("mention_count", "mentions"),
            ("chunk_count", "source_documents"),
        )
        for count, listed in counts:
            if not 1 <= len(node[listed]) <= node[count]:
                yield f"node {name!r}: {count} is {node[count]}, it lists {len(node[listed])}"


def _features(node: Mapping[str, Any]) -> list[str]:
    """The columns behind `community`, which the stack's features added."""
    names = list(node)
    return names[names.index("community") + 1 :]


def _edge_problems(
    edges: Rows, nodes: Mapping[str, dict[str, Any]], records: set[str]
) -> Iterator[str]:
    ends = [(edge["source"], edge["target"]) for edge in edges]
    if any(a >= b for a, b in pairwise(ends)):
        yield "graph-edges: edges do not ascend"
    for edge in edges:
        where = f"edge {edge['source']!r} to {edge['target']!r}"
        for end in (edge["source"], edge["target"]):
            if end not in nodes:
                yield f"{where}: there is no node {end!r}"
        if edge["source"] >= edge["target"]:
            yield f"{where}: its ends are not in order"
        if not (edge["weight"] > 0 and np.isfinite(edge["weight"])):
            yield f"{where}: its weight is {edge['weight']}"
        for record in edge["evidence"]:
            if record not in records:
                yield f"{where}: its evidence {record!r} is no record"
        if not 1 <= len(edge["evidence"]) <= edge["evidence_count"]:
            count, listed = edge["evidence_count"], len(edge["evidence"])
            yield f"{where}: evidence_count is {count}, it lists {listed}"


def _header_problems(
    chunks: Rows, nodes: Mapping[str, dict[str, Any]], edges: Rows
) -> Iterator[str]:
    near: defaultdict[str, set[str]] = defaultdict(set)
    for edge in edges:
        near[edge["source"]].add(edge["target"])
        near[edge["target"]].add(edge["source"])
    for row in chunks:
        header, where = row[HEADER_COLUMN], f"record {row['record_id']!r}"
        own, neighbors = header["kg_node_ids"], header["neighbor_node_ids"]
        unknown = [node for node in (*own, *neighbors) if node not in nodes]
        for node in unknown:
            yield f"{where}: there is no node {node!r}, which its {HEADER_COLUMN} names"
        if unknown:
            continue
        for key, column, kind in (
            ("kg_node_centrality", "centrality", np.float32),
            ("kg_node_community", "community", np.int32),
        ):
            if header[key] != [kind(nodes[node][column]) for node in own]:
                yield f"{where}: {key} is not what its nodes have"
        next_to = set().union(*(near[node] for node in own))
        for node in neighbors:
            if node not in next_to or node in own:
                yield f"{where}: {node!r} is no neighbour of its nodes"
