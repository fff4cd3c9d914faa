"""Generators of a user's own, named in a stack by their path."""

from collections.abc import Sequence

import pyarrow as pa
from laya_index import Chunk
from laya_index.signal.base import SidecarGenerator
from laya_signals import Component, ComponentConfig, EncodeError


class WordsConfig(ComponentConfig):
    column: str = "words"


class Words(Component[WordsConfig]):
    """How many words a passage has."""

    Config = WordsConfig

    def fields(self) -> list[pa.Field]:
        return [pa.field(self.config.column, pa.int32(), nullable=False)]

    def compute(self, chunks: Sequence[Chunk]) -> list[pa.Array]:
        return [pa.array([len(chunk.content.split()) for chunk in chunks], pa.int32())]


class WrongConfig(ComponentConfig):
    how: str


class Wrong(Component[WrongConfig]):
    """Breaks its promise in the way that the settings say."""

    Config = WrongConfig

    def fields(self) -> list[pa.Field]:
        return [pa.field("wrong", pa.int32(), nullable=False)]

    def compute(self, chunks: Sequence[Chunk]) -> list[pa.Array]:
        if self.config.how == "raises":
            raise EncodeError("no idea")
        return {
            "none": [],
            "short": [pa.array([1] * (len(chunks) - 1), pa.int32())],
            "type": [pa.array([1] * len(chunks), pa.int64())],
            "null": [pa.array([None] * len(chunks), pa.int32())],
        }[self.config.how]


class BesideConfig(ComponentConfig):
    files: str


class Beside(Component[BesideConfig], SidecarGenerator):
    """Wants a file of its own."""

    Config = BesideConfig
    dimension = 1
    ragged = False

    @property
    def fingerprint(self) -> str:
        return "0"

    cache_key = fingerprint

    @property
    def kind(self) -> str:
        return self.config.files

    def fields(self) -> list[pa.Field]:
        return []
