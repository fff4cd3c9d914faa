"""`multivector.encoder`: the token states of an encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from laya_signals.component import Component, ComponentConfig
from laya_signals.errors import EncodeError
from laya_signals.registry import ProviderBlock, signals


@runtime_checkable
class TokenEncoder(Protocol):
    """An encoder that also gives one vector per token, as `encoder.mini` does."""

    @property
    def dimension(self) -> int:
        """Components per vector."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hex digits that identify weights, tokenizer and settings."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, two special ones included."""
        ...

    def encode_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """For each text `(tokens, dimension)` float32, unit rows."""
        ...


class EncoderMultiVectorConfig(ComponentConfig):
    """Settings of `multivector.encoder`."""

    #: Which encoder; it must have `encode_tokens`.
    encoder: ProviderBlock = Field(default=ProviderBlock(provider="encoder.mini"))


class EncoderMultiVectorEncoder(Component[EncoderMultiVectorConfig]):
    """One vector per token of a text: the encoder's last states, scaled to unit length.

    `encoder=` takes one that is built already. An encoder that was trained for one vector per text
    is no ColBERT: its states are usable for MaxSim, not made for it.
    """

    Config = EncoderMultiVectorConfig

    def __init__(
        self,
        config: Mapping[str, Any] | ComponentConfig | None = None,
        /,
        *,
        encoder: TokenEncoder | Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        if isinstance(encoder, Mapping):
            settings["encoder"], encoder = encoder, None
        super().__init__(config, **settings)
        self.encoder: TokenEncoder = (
            encoder if encoder is not None else signals.resolve(self.config.encoder, TokenEncoder)
        )

    @property
    def dimension(self) -> int:
        """Components per token vector."""
        return self.encoder.dimension

    def fingerprint_extra(self) -> Any:
        """The encoder decides the vectors."""
        return self.encoder.fingerprint

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """`(tokens, dimension)` float32, unit rows."""
        return self.encode_documents([text])[0]

    def encode_documents(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """One `(tokens, dimension)` array per text; `(0, dimension)` for one without tokens.

        Raises `EncodeError`, naming the position, for what is no text.
        """
        if isinstance(texts, str):
            raise EncodeError("give a sequence of texts, not one string")
        # An encoder refuses a text without a token, which has no vector of its own.
        filled = [n for n, count in enumerate(self.encoder.count_tokens(texts)) if count > 2]
        found = [np.zeros((0, self.dimension), np.float32) for _ in texts]
        for position, vectors in zip(
            filled, self.encoder.encode_tokens([texts[n] for n in filled]), strict=True
        ):
            found[position] = vectors
        return found
