"""What every graph source promises, and each against the reference traversal."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laya_retrieval import ExpandError, GraphSource, MemoryGraphSource, NetworkxGraphSource
from laya_retrieval.graph.duckdb import DuckDbGraphSource
from laya_retrieval.graph.neo4j import Neo4jGraphSource
from laya_retrieval.testing import FakeGraphSource

PATH = [("n1", "n2"), ("n2", "n3"), ("n3", "n4")]


class FakeNeo4jDriver:
    """Answers the one query that the source sends, from a list of edges; records every call."""

    def __init__(self, edges):
        self.edges = edges
        self.calls = []

    def execute_query(self, query_, parameters_=None, **settings):
        self.calls.append((query_, parameters_, settings))
        frontier = parameters_["frontier"]
        pairs = [*self.edges, *((b, a) for a, b in self.edges)]
        found = sorted({b for a, b in pairs if a in frontier})
        return [{"id": node} for node in found], None, ["id"]


def memory(edges, _):
    return MemoryGraphSource(edges)


def networkx(edges, _):
    nx = pytest.importorskip("networkx", reason="needs the dependency group `oracles`")
    graph = nx.DiGraph()
    graph.add_edges_from(edges)
    return NetworkxGraphSource(graph)


def duckdb(edges, folder):
    pytest.importorskip("duckdb", reason="needs the dependency group `oracles`")
    pyarrow = pytest.importorskip("pyarrow", reason="writing the edges needs pyarrow")
    from pyarrow import parquet

    columns = {
        "source": pyarrow.array([a for a, _ in edges], pyarrow.string()),
        "target": pyarrow.array([b for _, b in edges], pyarrow.string()),
        "weight": pyarrow.array([1.0] * len(edges)),
    }
    parquet.write_table(pyarrow.table(columns), folder / "graph-edges.parquet")
    return DuckDbGraphSource(folder)


def neo4j(edges, _):
    return Neo4jGraphSource(FakeNeo4jDriver(edges))


SOURCES = [
    memory,
    pytest.param(networkx, marks=pytest.mark.slow),
    pytest.param(duckdb, marks=pytest.mark.slow),
    neo4j,
]


def reference(edges, seeds, max_hops):
    """Distances by relaxing every edge, as slow and as plain as can be."""
    infinite = 10**6
    distance = {node: infinite for edge in edges for node in edge}
    distance.update(dict.fromkeys(seeds, 0))
    for _ in range(max_hops):
        new = dict(distance)
        for a, b in edges:
            new[b] = min(new[b], distance[a] + 1)
            new[a] = min(new[a], distance[b] + 1)
        distance = new
    return {n: d for n, d in distance.items() if 0 < d <= max_hops and n not in seeds}


def test_the_specified_example():
    assert FakeGraphSource(PATH).neighbors(["n1"], 2) == {"n2": 1, "n3": 2}


@pytest.mark.parametrize("make", SOURCES)
class TestEverySource:
    def test_implements_the_seam(self, make, tmp_path):
        assert isinstance(make(PATH, tmp_path), GraphSource)

    def test_distances_are_minimal_and_undirected(self, make, tmp_path):
        source = make([*PATH, ("n4", "n1"), ("n4", "n5")], tmp_path)
        assert source.neighbors(["n1"], 2) == {"n2": 1, "n4": 1, "n3": 2, "n5": 2}
        assert source.neighbors(["n5"], 1) == {"n4": 1}

    def test_seeds_are_left_out(self, make, tmp_path):
        assert make(PATH, tmp_path).neighbors(["n1", "n2"], 5) == {"n3": 1, "n4": 2}

    def test_unknown_and_no_seeds_have_no_neighbours(self, make, tmp_path):
        source = make(PATH, tmp_path)
        assert source.neighbors(["x'; DROP TABLE edges"], 3) == {}
        assert source.neighbors([], 3) == {}

    @pytest.mark.parametrize("hops", [0, -1, 65, 1.5, True])
    def test_hops_out_of_bounds_are_refused(self, make, tmp_path, hops):
        with pytest.raises(ExpandError, match="max_hops"):
            make(PATH, tmp_path).neighbors(["n1"], hops)

    @pytest.mark.parametrize("seeds", ["n1", [1], [None]])
    def test_seeds_that_are_no_texts_are_refused(self, make, tmp_path, seeds):
        with pytest.raises(ExpandError):
            make(PATH, tmp_path).neighbors(seeds, 1)

    def test_random_graphs_equal_the_reference(self, make, tmp_path):
        generator = random.Random(7)
        for round_ in range(6):
            nodes = [f"n{i}" for i in range(15)]
            edges = [tuple(generator.sample(nodes, 2)) for _ in range(generator.randint(5, 30))]
            folder = tmp_path / str(round_)
            folder.mkdir()
            source = make(edges, folder)
            seeds = set(generator.sample(nodes, 2))
            for hops in (1, 2, 3, 64):
                assert source.neighbors(seeds, hops) == reference(edges, seeds, hops)

    def test_a_dense_cyclic_graph_takes_bounded_time(self, make, tmp_path):
        # Paths of 64 hops here number more than 10^120: only a set-based walk ever ends.
        edges = [(f"n{i}", f"n{j}") for i in range(60) for j in range(i)]
        source = make(edges, tmp_path)
        started = time.perf_counter()
        assert len(source.neighbors(["n0"], 64)) == 59
        assert time.perf_counter() - started < 5


nodes = st.sampled_from([f"n{i}" for i in range(8)])


@settings(max_examples=100)
@given(
    st.lists(st.tuples(nodes, nodes), max_size=20), st.sets(nodes, max_size=3), st.integers(1, 9)
)
def test_the_traversal_equals_the_reference(edges, seeds, hops):
    assert MemoryGraphSource(edges).neighbors(seeds, hops) == reference(edges, seeds, hops)


def test_an_edge_is_two_texts():
    with pytest.raises(ExpandError, match="two node ids"):
        MemoryGraphSource([("a", 1)])


def test_only_networkx_graphs_are_networkx_graphs():
    with pytest.raises(ExpandError, match="dict"):
        NetworkxGraphSource({})
