"""Extractors and graph features of a user's own, named in a stack by their path."""

from collections.abc import Sequence

import numpy as np
from laya_index.graph.adjacency import Adjacency
from laya_index.graph.entity import Mention
from laya_signals import Component, ComponentConfig


class EveryWordConfig(ComponentConfig):
    how: str = "right"


class EveryWord(Component[EveryWordConfig]):
    """Takes every word for an entity, or breaks its promise in the way that the settings say."""

    Config = EveryWordConfig

    def find(self, text: str) -> Sequence[Mention]:
        found, start = [], 0
        for word in text.split():
            start = text.index(word, start)
            found.append(Mention(start, start + len(word), "word", word, 0.5))
            start += len(word)
        wrong = {
            "outside": Mention(0, len(text) + 1, "word", "x", 0.5),
            "blank": Mention(0, 1, "word", " ", 0.5),
            "untyped": Mention(0, 1, "", "x", 0.5),
            "unsure": Mention(0, 1, "word", "x", 0.0),
            "nan": Mention(0, 1, "word", "x", float("nan")),
        }
        return [*found, *([wrong[self.config.how]] if self.config.how in wrong else [])]


class OddConfig(ComponentConfig):
    name: str = "odd"
    value: float = 2.0


class Odd(Component[OddConfig]):
    """Gives every node the same number."""

    Config = OddConfig

    @property
    def name(self) -> str:
        return self.config.name

    def compute(self, graph: Adjacency) -> np.ndarray:
        return np.full(graph.nodes, self.config.value)
