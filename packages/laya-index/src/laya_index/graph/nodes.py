"""Canonical nodes: one for everything that is the same entity."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from laya_index.graph.entity import ACRONYM, NAME, node_id
from laya_index.graph.mentions import read_mentions

Key = tuple[str, str]
#: For an acronym, every long form that some text gives for it.
Expansions = dict[str, set[str]]

# How many spellings of a node its row lists.
_SPELLINGS = 16


@dataclass(frozen=True, slots=True)
class Shard:
    """What the graph is made from: the shard's mentions, and its chunks, which are numbered on."""

    mentions: Path
    record_ids: pa.Array
    document_ids: pa.Array


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Which nodes the chunks of a shard have: row `rows[i]` has node `nodes[i]`, once at most.

    Rows ascend, from 0 in the shard; the nodes of a row come with the most prominent first.
    """

    rows: NDArray[np.int64]
    nodes: NDArray[np.int64]


@dataclass(slots=True)
class Node:
    """What is known of a node; `documents` are the first few of `document_count`."""

    type: str
    key: str
    confidence: float = 0.0
    chunks: int = 0
    spellings: Counter[str] = field(default_factory=Counter)
    documents: list[str] = field(default_factory=list)
    document_count: int = 0

    @property
    def id(self) -> str:
        """See `entity.node_id`."""
        return node_id(self.type, self.key)

    def name(self) -> str:
        """The commonest spelling that is not the acronym of a longer name."""
        return min(
            self.spellings, key=lambda name: (self._short(name), -self.spellings[name], name)
        )

    def mentions(self) -> list[str]:
        """Its spellings, the commonest first; sixteen at most."""
        ranked = sorted(self.spellings, key=lambda name: (-self.spellings[name], name))
        return ranked[:_SPELLINGS]

    def _short(self, name: str) -> bool:
        return self.type == NAME and name.casefold() != self.key and len(name) < len(self.key)


def canonical_nodes(
    shards: Sequence[Shard], *, most: int, documents: int
) -> tuple[list[Node], list[Occurrences]]:
    """The nodes by ascending id, and where they occur, shard by shard.

    An acronym is its long form where its own document gives exactly one, and elsewhere if all
    documents that give one agree. A chunk has its `most` surest and most frequent nodes; a node
    lists its first `documents` documents.
    """
    everywhere = _expansions(shards)
    nodes: dict[Key, Node] = {}
    found: list[tuple[list[int], list[Key]]] = []
    for shard in shards:
        rows: list[int] = []
        keys: list[Key] = []
        for row, document, chosen in _by_row(shard, everywhere, most):
            for key, told in chosen:
                node = nodes.get(key)
                if node is None:
                    node = nodes[key] = Node(*key)
                node.confidence = max(node.confidence, told.confidence)
                node.chunks += 1
                node.spellings.update(told.spellings)
                # Documents come one after the other, and each is in one shard.
                if told.first:
                    node.document_count += 1
                    if len(node.documents) < documents:
                        node.documents.append(document)
                rows.append(row)
                keys.append(key)
        found.append((rows, keys))
    ordered = sorted(nodes.values(), key=lambda node: node.id)
    place = {(node.type, node.key): index for index, node in enumerate(ordered)}
    return ordered, [
        Occurrences(np.array(rows, np.int64), np.array([place[key] for key in keys], np.int64))
        for rows, keys in found
    ]


@dataclass(slots=True)
class _Told:
    """What one chunk says of a node; `first` in its document."""

    confidence: float = 0.0
    spellings: Counter[str] = field(default_factory=Counter)
    first: bool = False


def _expansions(shards: Iterable[Shard]) -> Expansions:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for shard in shards:
        columns = _read(shard.mentions, ["type", "key", "expansion"])
        for kind, key, expansion in zip(*columns, strict=True):
            if kind == ACRONYM and expansion is not None:
                found[key].add(expansion)
    return dict(found)


def _by_row(
    shard: Shard, everywhere: Expansions, most: int
) -> Iterable[tuple[int, str, list[tuple[Key, _Told]]]]:
    """The nodes of each chunk that has some, most prominent first, and the chunk's document."""
    columns = _read(
        shard.mentions, ["row", "type", "key", "name", "expansion", "confidence", "count"]
    )
    names = shard.document_ids.to_pylist()
    own: defaultdict[str, Expansions] = defaultdict(dict)
    for row, kind, key, _, expansion, _, _ in zip(*columns, strict=True):
        if kind == ACRONYM and expansion is not None:
            own[names[row]].setdefault(key, set()).add(expansion)
    told: dict[int, dict[Key, _Told]] = {}
    for row, kind, key, name, _, confidence, count in zip(*columns, strict=True):
        node = (kind, key)
        if kind == ACRONYM:
            long = own.get(names[row], {}).get(key) or everywhere.get(key, set())
            if len(long) == 1:
                node = (NAME, next(iter(long)))
        entry = told.setdefault(row, {}).setdefault(node, _Told())
        entry.confidence = max(entry.confidence, confidence)
        entry.spellings[name] += count
    document, seen = None, set[Key]()
    for row, entries in told.items():
        if names[row] != document:
            document, seen = names[row], set()
        ranked = sorted(
            entries.items(),
            key=lambda item: (-item[1].confidence, -item[1].spellings.total(), item[0]),
        )[:most]
        for node, entry in ranked:
            entry.first = node not in seen
            seen.add(node)
        yield row, names[row], ranked


def _read(path: Path, names: list[str]) -> list[list[object]]:
    table = read_mentions(path, names)
    return [table[name].to_pylist() for name in names]
