"""Components that break one promise each, named in a stack by their path."""

import hashlib
import logging
import multiprocessing
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from laya_index import Chunk, Finding
from laya_index.redact.patterns import PatternRedactor, PatternRedactorConfig
from laya_signals import Component, ComponentConfig
from numpy.typing import NDArray


class WordsConfig(ComponentConfig):
    dimension: int = 128
    length: float = 1.0
    #: Whether questions are encoded like passages.
    same: bool = True
    #: Whether a vector depends on how many texts are encoded with it.
    by_batch: bool = False
    device: str = "cpu"


class Words(Component[WordsConfig]):
    """An encoder that costs nothing: the hashed words of a text."""

    Config = WordsConfig
    max_tokens = 512

    @property
    def dimension(self) -> int:
        return self.config.dimension

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w{4,}", text.lower()) or [text]:
                row[int(hashlib.sha256(word.encode()).hexdigest(), 16) % self.dimension] += 1
            if self.config.by_batch:
                row[0] += len(texts)
            row *= self.config.length / np.linalg.norm(row)
        return rows

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        found = self.encode_documents(texts)
        return found if self.config.same else np.roll(found, 7, axis=1)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 2 for text in texts]


class Number(Component[ComponentConfig]):
    """A column of numbers; what they are is up to the subclass."""

    def fields(self) -> list[pa.Field]:
        return [pa.field("number", pa.int64(), nullable=False)]

    def compute(self, chunks: Sequence[Chunk]) -> list[pa.Array]:
        return [pa.array([self.number(chunk, chunks) for chunk in chunks], pa.int64())]

    def number(self, chunk: Chunk, chunks: Sequence[Chunk]) -> int:
        return len(chunk.content)


class Random(Number):
    def number(self, chunk: Chunk, chunks: Sequence[Chunk]) -> int:
        return int.from_bytes(os.urandom(6), "big")


class Neighbours(Number):
    def number(self, chunk: Chunk, chunks: Sequence[Chunk]) -> int:
        return len(chunks)


class Worker(Number):
    def number(self, chunk: Chunk, chunks: Sequence[Chunk]) -> int:
        return int(multiprocessing.parent_process() is not None)


class Remembers(Number):
    """Its first number says whether another process was there before and did not live to tell.

    The folder that it uses comes in the environment: a bundle may not name one.
    """

    def number(self, chunk: Chunk, chunks: Sequence[Chunk]) -> int:
        if multiprocessing.parent_process() is not None:
            return 0  # a worker: its parent is the one that counts
        folder = Path(os.environ["LAYA_TEST_MARKS"])
        (folder / str(os.getpid())).touch()
        others = [path for path in folder.iterdir() if path.name != str(os.getpid())]
        for path in others:
            path.unlink()
        return len(others)


class Raises(Number):
    def number(self, chunk: Chunk, chunks: Sequence[Chunk]) -> int:
        raise ValueError("no number today")


class LeakyConfig(ComponentConfig):
    text: str


class Leaky(Component[LeakyConfig]):
    """Puts a text of its settings into a column."""

    Config = LeakyConfig

    def fields(self) -> list[pa.Field]:
        return [pa.field("leak", pa.string(), nullable=False)]

    def compute(self, chunks: Sequence[Chunk]) -> list[pa.Array]:
        return [pa.array([self.config.text.swapcase()] * len(chunks))]


class Talkative(PatternRedactor):
    """Logs what it found."""

    Config = PatternRedactorConfig

    def find(self, text: str) -> list[Finding]:
        found = super().find(text)
        for item in found:
            logging.getLogger(__name__).debug("found %s", text[item.start : item.end])
        return found
