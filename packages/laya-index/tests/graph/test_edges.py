from collections import defaultdict
from itertools import combinations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from laya_index.graph.adjacency import Adjacency
from laya_index.graph.edges import edges_of
from laya_index.graph.headers import Headers
from laya_index.graph.nodes import Occurrences

NODES = 7
#: Shards of rows of the nodes that each row has.
SHARDS = st.lists(
    st.lists(st.lists(st.integers(0, NODES - 1), unique=True, max_size=4), max_size=5),
    min_size=1,
    max_size=3,
)


def occurrences(shards: list[list[list[int]]]) -> list[Occurrences]:
    return [
        Occurrences(
            np.array([row for row, nodes in enumerate(rows) for _ in nodes], np.int64),
            np.array([node for nodes in rows for node in nodes], np.int64),
        )
        for rows in shards
    ]


@given(SHARDS, st.integers(1, 3))
def test_edges_join_what_shares_a_row(shards: list[list[list[int]]], evidence: int) -> None:
    rows = [nodes for shard in shards for nodes in shard]
    chunks = np.array([sum(node in row for row in rows) for node in range(NODES)], np.int64)
    bases = [sum(map(len, shards[:place])) for place in range(len(shards))]
    found = edges_of(occurrences(shards), bases, chunks, evidence=evidence)
    wanted = defaultdict(list)
    for row, nodes in enumerate(rows):
        for pair in combinations(sorted(nodes), 2):
            wanted[pair].append(row)
    assert list(zip(found.source, found.target, strict=True)) == sorted(wanted)
    for place, pair in enumerate(sorted(wanted)):
        both = wanted[pair]
        assert found.counts[place] == len(both)
        told = found.evidence[found.offsets[place] : found.offsets[place + 1]]
        assert list(told) == both[:evidence]
        assert found.weight[place] == len(both) / np.sqrt(chunks[pair[0]] * chunks[pair[1]])
        assert 0 < found.weight[place] <= 1


@given(SHARDS, st.integers(0, 3))
def test_a_header_names_the_strongest_neighbours(shards: list[list[list[int]]], most: int) -> None:
    rows = [nodes for shard in shards for nodes in shard]
    chunks = np.array([sum(node in row for row in rows) for node in range(NODES)], np.int64)
    bases = [sum(map(len, shards[:place])) for place in range(len(shards))]
    places = occurrences(shards)
    edges = edges_of(places, bases, chunks, evidence=1)
    graph = Adjacency.of(NODES, edges.source, edges.target, edges.weight)
    ids = [f"n{node}" for node in range(NODES)]
    centrality, community = np.linspace(0.1, 1, NODES), np.arange(NODES, dtype=np.int32)
    headers = Headers(ids, graph, centrality, community, own=4, neighbors=most)
    weight = dict(zip(zip(edges.source, edges.target, strict=True), edges.weight, strict=True))
    for shard, place in zip(shards, places, strict=True):
        column = headers.column(place, len(shard))
        column.validate(full=True)
        for nodes, header in zip(shard, column.to_pylist(), strict=True):
            assert header["kg_node_ids"] == [ids[node] for node in nodes]
            wanted = pa.array(centrality[nodes], pa.float32()).to_pylist()
            assert header["kg_node_centrality"] == wanted
            assert header["kg_node_community"] == nodes
            strength: dict[int, float] = {}
            for one, other in combinations(range(NODES), 2):
                for own, near in ((one, other), (other, one)):
                    if own in nodes and near not in nodes and (one, other) in weight:
                        strength[near] = max(strength.get(near, 0), weight[one, other])
            ranked = sorted(strength, key=lambda node: (-strength[node], node))
            assert header["neighbor_node_ids"] == [ids[node] for node in ranked[:most]]
