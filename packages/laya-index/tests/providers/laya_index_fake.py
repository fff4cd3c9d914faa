"""An encoder that costs nothing, found through an entry point like any other provider."""

import hashlib
import os
import time
from collections.abc import Sequence

import numpy as np
from laya_signals import Component, ComponentConfig, EncodeError
from numpy.typing import NDArray


class FakeEncoderConfig(ComponentConfig):
    dimension: int = 4
    seed: int = 0
    seconds: float = 0.0
    refuse: str | None = None


class FakeEncoder(Component[FakeEncoderConfig]):
    """Unit vectors drawn from the text's hash."""

    Config = FakeEncoderConfig
    #: Every text that was encoded in this process.
    encoded: list[str] = []  # noqa: RUF012

    @property
    def dimension(self) -> int:
        return self.config.dimension

    @property
    def max_tokens(self) -> int:
        return 512

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.empty((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            if self.config.refuse is not None and self.config.refuse in text:
                raise EncodeError(f"cannot encode {self.config.refuse!r}")
            digest = hashlib.sha256(f"{self.config.seed}{text}".encode()).digest()
            row[:] = np.random.default_rng(list(digest)).standard_normal(self.dimension)
            row /= np.linalg.norm(row)
            self.encoded.append(text)
            if self.config.seconds:
                time.sleep(self.config.seconds)
        return rows

    encode_queries = encode_documents

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 2 for text in texts]


def pid(_: object) -> int:
    time.sleep(0.05)
    return os.getpid()


def threads(_: object) -> str | None:
    return os.environ.get("LAYA_THREADS")


def die(_: object) -> None:
    os._exit(9)
