"""`encoder.mini`: the encoder embedded in `laya_mini`, on ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import laya_mini
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from laya_signals.component import Component, ComponentConfig
from laya_signals.encode.onnx import OnnxTokenEncoder
from laya_signals.encode.pooling import mean_pool, unit_rows
from laya_signals.model_file import shipped_hashes

FOLDER = "encoder"


class MiniEncoderConfig(ComponentConfig):
    """Settings of `MiniEncoder`."""

    #: Tokens kept of a text, `[CLS]` and `[SEP]` included; the rest is cut off on the right.
    max_tokens: int = Field(default=256, ge=8, le=512)
    #: Texts encoded at the same time; by default one for each processor of this process. Never
    #: changes a result, so it is neither dumped nor part of the fingerprint.
    threads: int | None = Field(default=None, ge=1, exclude=True)


class MiniEncoder(Component[MiniEncoderConfig]):
    """all-MiniLM-L6-v2 in int8: an `Encoder` that needs no download and no torch.

    >>> vectors = MiniEncoder().encode_documents(["A cat sat down.", "The stock fell."])
    >>> vectors.shape, vectors.dtype
    ((2, 384), dtype('float32'))

    A text's vector is the same bits in any batch, any order, with any number of threads and in any
    process on one processor type with one version of ONNX Runtime. Across processor types the
    roundings of int8 activations may fall differently; see the model card for how much.

    The model is loaded, and its hashes checked, at the first text; `ModelError` names a file that
    is missing or altered. Pickles by its settings, so a worker process opens its own session.
    """

    Config = MiniEncoderConfig

    def __init__(
        self, config: Mapping[str, Any] | ComponentConfig | None = None, /, **settings: Any
    ) -> None:
        super().__init__(config, **settings)
        self._tokens = OnnxTokenEncoder(
            laya_mini.data_folder() / FOLDER,
            shipped_hashes(FOLDER),
            max_tokens=self.config.max_tokens,
            threads=self.config.threads,
        )

    def __reduce__(self) -> tuple[type[MiniEncoder], tuple[MiniEncoderConfig]]:
        return type(self), (self.config,)

    @property
    def dimension(self) -> int:
        """Components per vector: 384."""
        return 384

    @property
    def max_tokens(self) -> int:
        """Tokens beyond this many (special tokens included) are cut off on the right."""
        return self.config.max_tokens

    def fingerprint_extra(self) -> Any:
        """The hashes of the weights and of the tokenizer."""
        return self._tokens.hashes

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The mean of each text's token states: `(len(texts), 384)` float32, unit rows.

        Raises `EncodeError`, naming the position, for a text without a single token (empty, blank,
        only control characters), with a lone surrogate, or without a usable vector.
        """
        pooled = [mean_pool(states) for states in self._tokens.states(texts)]
        return unit_rows(np.array(pooled, np.float64).reshape(len(pooled), self.dimension))

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same as `encode_documents`: this model family has no query prefix."""
        return self.encode_documents(texts)

    def encode_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """One vector per token: for each text `(t, 384)` float32, unit rows, t >= 1.

        `[CLS]` and `[SEP]` are left out, so t is at most `max_tokens` - 2. Raises `EncodeError`
        like `encode_documents`.
        """
        return [
            unit_rows(states[1:-1], f"text {position}, token")
            for position, states in enumerate(self._tokens.states(texts))
        ]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens included, before any cut; a blank text has two."""
        return [len(ids) + 2 for ids in self._tokens.token_ids(texts)]
