"""`encoder.laya`: the encoder of a Laya checkpoint as an embedder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from laya_signals.component import Component, ComponentConfig
from laya_signals.decide.checkpoint import CONFIG, Checkpoint
from laya_signals.decide.sequence import SpecialTokens
from laya_signals.decide.torch import CheckpointSource, load_network
from laya_signals.encode.plain import plain_token_ids, refuse_one_string
from laya_signals.encode.pooling import mean_pool, unit_rows
from laya_signals.errors import EncodeError, ModelError
from laya_signals.model_source import import_runtime
from laya_signals.once import Once
from laya_signals.one_thread import each_on_one_thread

if TYPE_CHECKING:
    import tokenizers


class LayaEncoderConfig(CheckpointSource):
    """Settings of `LayaEncoder`."""

    #: Tokens kept of a text, the two special ones included; by default the checkpoint's `max_len`.
    max_tokens: int | None = Field(default=None, ge=8)


class LayaEncoder(Component[LayaEncoderConfig]):
    """The mean of the hidden states of a checkpoint's encoder: an `Encoder` through torch.

    Needs the extra `models`. Weak for retrieval unless the checkpoint was adapted to it: a decision
    model is trained to answer questions, not to put like texts near each other.

    Every text runs alone and on one thread, so on a processor its vector is the same bits in any
    batch, with any number of threads. Pickles by its settings.
    """

    Config = LayaEncoderConfig

    def __init__(
        self, config: Mapping[str, Any] | ComponentConfig | None = None, /, **settings: Any
    ) -> None:
        super().__init__(config, **settings)
        self._checkpoint = Once(self.config.open)
        self._digests = Once(lambda: self.checkpoint.digests())
        self._tokenizer = Once(self._open_tokenizer)
        self._network = Once(lambda: load_network(self.checkpoint, self.config.device))

    def __reduce__(self) -> tuple[type[LayaEncoder], tuple[LayaEncoderConfig]]:
        return type(self), (self.config,)

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint that the settings name; found, and its hashes checked, on first use."""
        return self._checkpoint()

    @property
    def dimension(self) -> int:
        """Components per vector; reads the checkpoint's configuration."""
        return self.checkpoint.dimension

    @property
    def max_tokens(self) -> int:
        """Tokens beyond this many (special tokens included) are cut off on the right.

        Raises `ModelError` when the settings ask for more than the checkpoint's `max_len`.
        """
        limit = self.checkpoint.config.max_len
        wanted = self.config.max_tokens or limit
        if wanted > limit:
            raise ModelError(
                f"max_tokens is {wanted}, but {self.checkpoint.folder / CONFIG} has max_len {limit}"
            )
        return wanted

    def fingerprint_extra(self) -> Any:
        """The hashes of the checkpoint's files."""
        return self._digests()

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The mean of each text's token states: `(len(texts), dimension)` float32, unit rows.

        Raises `EncodeError`, naming the position, for a text without a single token (empty, blank),
        with a lone surrogate, or without a usable vector.
        """
        torch, network = import_runtime("torch"), self._network()
        (_, special), room = self._tokenizer(), self.max_tokens - 2

        def pooled_states(ids: Sequence[int]) -> NDArray[np.float64]:
            with torch.inference_mode():
                states, _ = network.states([[special.cls, *ids[:room], special.sep]])
            return mean_pool(states[0].float().cpu().numpy())

        rows = self._token_ids(texts)
        for position, ids in enumerate(rows):
            if not ids:
                raise EncodeError(f"text {position} is blank: it has no token to encode")
        at_once = None if self.config.device == "cpu" else 1
        pooled = each_on_one_thread(pooled_states, rows, at_once=at_once)
        return unit_rows(np.array(pooled, np.float64).reshape(len(pooled), self.dimension))

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same as `encode_documents`: this model family has no query prefix."""
        return self.encode_documents(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens included, before any cut; needs no torch."""
        return [len(ids) + 2 for ids in self._token_ids(texts)]

    def _token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        refuse_one_string(texts)
        tokenizer, _ = self._tokenizer()
        return plain_token_ids(tokenizer, texts)

    def _open_tokenizer(self) -> tuple[tokenizers.Tokenizer, SpecialTokens]:
        tokenizer = self.checkpoint.tokenizer()
        # Otherwise "[MASK]" or "[SEP]" inside a text would turn into the special token.
        tokenizer.encode_special_tokens = True
        return tokenizer, self.checkpoint.special_tokens(tokenizer)
