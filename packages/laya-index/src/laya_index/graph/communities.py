"""Communities: groups of nodes with more ties inside than chance would give them."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from laya_index.graph.adjacency import Adjacency

# A move must gain more than rounding may.
_LEAST_GAIN = 1e-9
_MOST_ROUNDS = 100

# For each node, the weights of its edges by neighbour; an edge to itself is what a group holds.
_Near = list[dict[int, float]]


def communities(graph: Adjacency) -> NDArray[np.int32]:
    """The community of each node: 0 for the largest, ties by the smallest node.

    The Louvain method for modularity: each node moves to the neighbouring community that gains
    most, until none gains; then communities become nodes. Nodes are visited in ascending order and
    equal gains go to the smallest community, so the same graph always gives the same answer.
    Source: Blondel et al., "Fast unfolding of communities in large networks" (2008).
    """
    near: _Near = []
    for node in range(graph.nodes):
        part = slice(graph.offsets[node], graph.offsets[node + 1])
        near.append(dict(zip(graph.near[part].tolist(), graph.weight[part].tolist(), strict=True)))
    labels = list(range(graph.nodes))
    while True:
        moved = _moved(near)
        groups = {label: index for index, label in enumerate(sorted(set(moved)))}
        if len(groups) == len(near):
            break
        moved = [groups[label] for label in moved]
        labels = [moved[label] for label in labels]
        near = _folded(near, moved, len(groups))
    return _numbered(labels)


def _moved(near: _Near) -> list[int]:
    """The community of each node when no move of a single one gains any more."""
    labels = list(range(len(near)))
    # A loop counts twice: it has both ends in its node.
    degrees = [sum(ties.values()) + ties.get(node, 0.0) for node, ties in enumerate(near)]
    total = sum(degrees)
    held = list(degrees)
    for _ in range(_MOST_ROUNDS):
        settled = True
        for node, ties in enumerate(near):
            own = labels[node]
            toward: dict[int, float] = {own: 0.0}
            for other, weight in ties.items():
                if other != node:
                    toward[labels[other]] = toward.get(labels[other], 0.0) + weight
            held[own] -= degrees[node]
            best, most = own, toward[own] - held[own] * degrees[node] / total if total else 0.0
            for label in sorted(toward):
                gain = toward[label] - held[label] * degrees[node] / total if total else 0.0
                if gain > most + _LEAST_GAIN:
                    best, most = label, gain
            held[best] += degrees[node]
            if best != own:
                labels[node] = best
                settled = False
        if settled:
            break
    return labels


def _folded(near: _Near, labels: list[int], groups: int) -> _Near:
    """The graph whose nodes are the communities of `near`."""
    folded: _Near = [{} for _ in range(groups)]
    for node, ties in enumerate(near):
        own = folded[labels[node]]
        for other, weight in ties.items():
            label = labels[other]
            # An edge inside a community is seen from both of its ends, a loop from one.
            share = weight / 2 if label == labels[node] and other != node else weight
            own[label] = own.get(label, 0.0) + share
    return folded


def _numbered(labels: list[int]) -> NDArray[np.int32]:
    sizes = Counter(labels)
    first = {label: node for node, label in reversed(list(enumerate(labels)))}
    ranked = sorted(sizes, key=lambda label: (-sizes[label], first[label]))
    number = {label: index for index, label in enumerate(ranked)}
    return np.array([number[label] for label in labels], np.int32)
