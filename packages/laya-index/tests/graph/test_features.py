import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.graph.adjacency import Adjacency
from laya_index.graph.communities import communities
from laya_index.graph.features import Degree, GraphFeature, PageRank

Weighted = tuple[int, dict[tuple[int, int], float]]


@st.composite
def graphs(draw: st.DrawFn, most: int = 12) -> Weighted:
    """A number of nodes, and edges with their weights."""
    nodes = draw(st.integers(1, most))
    pairs = [(one, other) for one in range(nodes) for other in range(one + 1, nodes)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return nodes, {pair: draw(st.sampled_from([0.1, 0.5, 1.0])) for pair in sorted(chosen)}


def adjacency(graph: Weighted) -> Adjacency:
    nodes, edges = graph
    ends = np.array(sorted(edges), np.int64).reshape(-1, 2)
    weight = np.array([edges[pair] for pair in sorted(edges)], np.float64)
    return Adjacency.of(nodes, ends[:, 0], ends[:, 1], weight)


def path(nodes: int) -> Weighted:
    return nodes, {(node, node + 1): 1.0 for node in range(nodes - 1)}


def cliques(sizes: list[int], bridge: float) -> Weighted:
    """Complete graphs, each tied to the next by one edge."""
    edges: dict[tuple[int, int], float] = {}
    start = 0
    for size in sizes:
        if start:
            edges[start - 1, start] = bridge
        members = range(start, start + size)
        edges |= {(one, other): 1.0 for one in members for other in members if one < other}
        start += size
    return start, edges


@given(graphs())
def test_each_edge_is_in_the_lists_of_both_ends(graph: Weighted) -> None:
    nodes, edges = graph
    made = adjacency(graph)
    assert made.nodes == nodes
    for node in range(nodes):
        part = slice(made.offsets[node], made.offsets[node + 1])
        near = {
            (one if other == node else other): weight
            for (one, other), weight in edges.items()
            if node in (one, other)
        }
        assert list(made.near[part]) == sorted(near)
        assert list(made.weight[part]) == [near[other] for other in sorted(near)]


@pytest.mark.parametrize("feature", [Degree(), PageRank()])
@pytest.mark.parametrize("nodes", [0, 1, 2])
def test_tiny_graphs(feature: GraphFeature, nodes: int) -> None:
    assert isinstance(feature, GraphFeature)
    none = np.empty(0, np.int64)
    assert list(feature.compute(Adjacency.of(nodes, none, none, np.empty(0)))) == [1.0] * nodes


@given(graphs())
def test_features_are_shares_of_the_largest(graph: Weighted) -> None:
    for feature in (Degree(), PageRank()):
        values = feature.compute(adjacency(graph))
        assert values.shape == (graph[0],)
        assert values.max() == 1.0
        assert values.min() > 0
        assert list(values) == list(feature.compute(adjacency(graph)))


def test_degrees_of_a_path() -> None:
    assert list(Degree().compute(adjacency(path(3)))) == pytest.approx([2 / 3, 1, 2 / 3])


@pytest.mark.slow
@given(graphs(), st.sampled_from([0.5, 0.85, 0.99]))
def test_pagerank_is_that_of_networkx(graph: Weighted, alpha: float) -> None:
    networkx = pytest.importorskip("networkx", reason="needs the dependency group `oracles`")
    nodes, edges = graph
    other = networkx.Graph()
    other.add_nodes_from(range(nodes))
    other.add_weighted_edges_from((*pair, weight) for pair, weight in edges.items())
    ranks = networkx.pagerank(other, alpha=alpha, tol=1e-12, max_iter=10_000)
    wanted = np.array([ranks[node] for node in range(nodes)])
    found = PageRank(alpha=alpha).compute(adjacency(graph))
    np.testing.assert_allclose(found, wanted / wanted.max(), atol=1e-6)


# Communities


def test_cliques_are_communities() -> None:
    found = communities(adjacency(cliques([4, 6, 5], 0.5)))
    assert list(found) == [2] * 4 + [0] * 6 + [1] * 5


def test_nodes_without_edges_are_communities_of_one() -> None:
    none = np.empty(0, np.int64)
    assert list(communities(Adjacency.of(3, none, none, np.empty(0)))) == [0, 1, 2]
    assert len(communities(Adjacency.of(0, none, none, np.empty(0)))) == 0


def modularity(graph: Weighted, labels: list[int]) -> float:
    """As Newman and Girvan define it, from every pair of nodes."""
    nodes, edges = graph
    weight = {**edges, **{(other, one): value for (one, other), value in edges.items()}}
    degree = [
        sum(weight.get((node, other), 0.0) for other in range(nodes)) for node in range(nodes)
    ]
    total = sum(degree)
    return sum(
        (weight.get((one, other), 0.0) - degree[one] * degree[other] / total) / total
        for one in range(nodes)
        for other in range(nodes)
        if labels[one] == labels[other]
    )


@given(graphs())
def test_no_single_move_makes_better_communities(graph: Weighted) -> None:
    nodes, edges = graph
    labels = list(map(int, communities(adjacency(graph))))
    assert labels == list(communities(adjacency(graph)))
    sizes = [labels.count(label) for label in range(max(labels) + 1)]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == nodes
    if not edges:
        return
    assert modularity(graph, labels) >= modularity(graph, list(range(nodes))) - 1e-9
    assert modularity(graph, labels) >= modularity(graph, [0] * nodes) - 1e-9


@pytest.mark.slow
@given(st.integers(0, 1000))
def test_communities_are_about_as_good_as_those_of_networkx(seed: int) -> None:
    networkx = pytest.importorskip("networkx", reason="needs the dependency group `oracles`")
    other = networkx.planted_partition_graph(4, 8, 0.7, 0.1, seed=seed)
    graph = (32, {(min(pair), max(pair)): 1.0 for pair in other.edges})
    ours = modularity(graph, list(map(int, communities(adjacency(graph)))))
    theirs = networkx.community.modularity(
        other, networkx.community.louvain_communities(other, seed=seed)
    )
    assert ours >= theirs - 0.06
