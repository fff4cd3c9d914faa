"""`sparse.splade`: learned sparse vectors from any SPLADE checkpoint, through torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from laya_signals.component import Component, ComponentConfig
from laya_signals.encode.plain import plain_encodings, plain_token_ids, refuse_one_string
from laya_signals.errors import EncodeError, ModelError
from laya_signals.model_source import ModelSource, import_runtime
from laya_signals.once import Once
from laya_signals.one_thread import each_on_one_thread
from laya_signals.sparse.vector import SparseVector
from laya_signals.transformers_folder import TransformersFolder, model_digests


class SpladeConfig(ModelSource):
    """Settings of `sparse.splade`."""

    #: Tokens kept of a text, special ones included; by default all that the model takes.
    max_tokens: int | None = Field(default=None, ge=8)


@dataclass(frozen=True)
class _Loaded:
    network: Any
    max_tokens: int


class SpladeEncoder(Component[SpladeConfig]):
    """For each term of the model's vocabulary, how much a text is about it: a `SparseEncoder`.

    `w_j = max over the tokens i of ln(1 + max(0, logit_ij))`, with the logits of a masked-language
    model's head. Source: Formal et al., "SPLADE v2" (2021), equation 6. Documents and queries alike
    (models with another encoder for queries are not supported).

    Needs the extra `models`. The checkpoint is a folder that transformers reads, or a repository on
    the hub: `config.json`, weights, a fast tokenizer. Every text runs alone and on one thread, in
    float32, so on a processor its vector is the same bits in any batch, with any number of threads
    and workers. Pickles by its settings.
    """

    Config = SpladeConfig

    #: Vectors are worth keeping between runs.
    costly: ClassVar[bool] = True

    def __init__(
        self, config: Mapping[str, Any] | ComponentConfig | None = None, /, **settings: Any
    ) -> None:
        super().__init__(config, **settings)
        self._folder = Once(lambda: TransformersFolder.open(self.config))
        self._digests = Once(lambda: model_digests(self.folder.path))
        self._tokens = Once(lambda: self.folder.tokenizer())
        self._model = Once(self._load)

    def __reduce__(self) -> tuple[type[SpladeEncoder], tuple[SpladeConfig]]:
        return type(self), (self.config,)

    @property
    def folder(self) -> TransformersFolder:
        """The checkpoint that the settings name; found, and its hashes checked, on first use."""
        return self._folder()

    @property
    def dimension(self) -> int:
        """The size of the model's vocabulary; reads its configuration."""
        return self.folder.vocabulary_size

    def fingerprint_extra(self) -> Any:
        """The hashes of the checkpoint's files."""
        return self._digests()

    def term_ids(self, text: str) -> list[int]:
        """The ids of a text's tokens in reading order, without special ones."""
        return plain_token_ids(self._tokens(), [text])[0]

    def encode(self, texts: Sequence[str]) -> list[SparseVector]:
        """One vector per text; an empty one for a text without a single token.

        A text is cut after `max_tokens` tokens. Raises `EncodeError`, naming the position, for what
        is no text and for weights that are not finite.
        """
        refuse_one_string(texts)
        model, tokenizer = self._model(), self._tokens()
        room = model.max_tokens - tokenizer.num_special_tokens_to_add(False)
        keys: list[tuple[int, ...]] = []
        for encoding in plain_encodings(tokenizer, texts):
            encoding.truncate(room)
            framed = tokenizer.post_process(encoding).ids if encoding.ids else ()
            keys.append(tuple(framed))
        unique = [key for key in dict.fromkeys(keys) if key]
        at_once = None if self.config.device == "cpu" else 1
        found = dict(
            zip(unique, each_on_one_thread(self._run, unique, at_once=at_once), strict=True)
        )
        vectors = []
        for position, key in enumerate(keys):
            vector = found.get(key, _NOTHING)
            if vector is None:
                raise EncodeError(f"text {position} gives weights that are not finite")
            vectors.append(vector)
        return vectors

    def _run(self, ids: tuple[int, ...]) -> SparseVector | None:
        """The vector of one sequence; None when it has a weight that is not finite."""
        torch = import_runtime("torch")
        tokens = torch.tensor([ids], device=self.config.device)
        with torch.inference_mode():
            logits = (
                self._model()
                .network(input_ids=tokens, attention_mask=torch.ones_like(tokens))
                .logits
            )
            # The logarithm rises: that of the highest logit is the highest logarithm.
            peaks: NDArray[np.float32] = logits[0].amax(dim=0).float().cpu().numpy()
        if not np.isfinite(peaks).all():
            return None
        indices = np.flatnonzero(peaks > 0)
        weights = np.log1p(peaks[indices].astype(np.float64)).astype(np.float32)
        return SparseVector(indices[weights > 0], weights[weights > 0])

    def _load(self) -> _Loaded:
        limit = self.folder.max_tokens
        wanted = self.config.max_tokens or limit
        if wanted > limit:
            raise ModelError(
                f"max_tokens is {wanted}, but the model in {self.folder.path} takes {limit}"
            )
        return _Loaded(self.folder.load("AutoModelForMaskedLM", self.config.device), wanted)


_NOTHING = SparseVector.from_mapping({})
