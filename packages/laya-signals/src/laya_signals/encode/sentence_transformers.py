"""`encoder.sentence_transformers`: any model of that library as an embedder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from laya_signals.component import Component, ComponentConfig
from laya_signals.encode.family import family_of
from laya_signals.encode.plain import plain_encodings, refuse_one_string
from laya_signals.encode.pooling import unit_rows
from laya_signals.errors import EncodeError, ModelError
from laya_signals.model_source import ModelSource, import_runtime
from laya_signals.once import Once
from laya_signals.one_thread import each_on_one_thread
from laya_signals.transformers_folder import find_model, model_digests, quiet_loading, read_config

if TYPE_CHECKING:
    import tokenizers

EXTRA = "sentence-transformers"
_MODULES, _PROMPTS = "modules.json", "config_sentence_transformers.json"
# What the library's own models call the prompt of a passage.
_DOCUMENT = ("document", "passage", "corpus")


class SentenceTransformersConfig(ModelSource):
    """Settings of `encoder.sentence_transformers`."""

    #: What stands before a query and before a passage. By default what the model's folder says, and
    #: where it says nothing, what its family (e5, bge, nomic, …) was trained with.
    query_prefix: str | None = None
    document_prefix: str | None = None
    #: How tokens become one vector. `auto` is what the model's folder says; for a plain checkpoint
    #: the first state (`cls`) in families that were trained so, and the mean in all others.
    pooling: Literal["auto", "cls", "mean"] = "auto"
    #: Keep this many of the first components: for models trained to be cut (Matryoshka).
    truncate_dim: int | None = Field(default=None, ge=1)
    #: Tokens kept of a text, prefix and special ones included; by default all that the model takes.
    max_tokens: int | None = Field(default=None, ge=8)
    #: Texts in one forward pass. With more than one, shorter ones are padded, and the last digits
    #: of a vector depend on its neighbours; worth it on an accelerator.
    batch_size: int = Field(default=1, ge=1)


@dataclass(frozen=True)
class _Loaded:
    model: Any
    counter: tokenizers.Tokenizer
    dimension: int
    max_tokens: int


class SentenceTransformersEncoder(Component[SentenceTransformersConfig]):
    """A model of the library sentence-transformers, from a folder or from the hub: an `Encoder`.

    Needs the extra `sentence-transformers`. Vectors are float32 of unit length, also after
    `truncate_dim` cut them. With `batch_size` 1 every text runs alone and on one thread, so on a
    processor its vector is the same bits in any batch, with any number of threads and workers.
    Code from a repository is never run. Pickles by its settings.
    """

    Config = SentenceTransformersConfig

    def __init__(
        self, config: Mapping[str, Any] | ComponentConfig | None = None, /, **settings: Any
    ) -> None:
        super().__init__(config, **settings)
        self._folder = Once(lambda: find_model(self.config, extra=EXTRA))
        self._digests = Once(lambda: model_digests(self.folder))
        self._model = Once(self._load)

    def __reduce__(
        self,
    ) -> tuple[type[SentenceTransformersEncoder], tuple[SentenceTransformersConfig]]:
        return type(self), (self.config,)

    @property
    def folder(self) -> Path:
        """The model's folder; found, and its hashes checked, on first use."""
        return self._folder()

    @property
    def dimension(self) -> int:
        """Components per vector; loads the model."""
        return self._model().dimension

    @property
    def max_tokens(self) -> int:
        """Tokens beyond this many (prefix and special ones included) are cut off on the right."""
        return self._model().max_tokens

    @property
    def prefixes(self) -> tuple[str, str]:
        """What stands before a query, and before a passage."""
        said = self._prompts()
        family = family_of(self.config.model)
        own = (said.get("query", ""), next((said[key] for key in _DOCUMENT if said.get(key)), ""))
        known = own if any(own) else (family.query, family.document)
        given = (self.config.query_prefix, self.config.document_prefix)
        query, document = (k if g is None else g for g, k in zip(given, known, strict=True))
        return query, document

    def fingerprint_extra(self) -> Any:
        """The hashes of the model's files, the prefixes, and how a plain checkpoint is pooled."""
        return [self._digests(), self.prefixes, self._pooling()]

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode passages: `(len(texts), dimension)` float32, unit rows.

        Raises `EncodeError`, naming the position, for a blank text, one with a lone surrogate, and
        one without a usable vector.
        """
        return self._encode(texts, self.prefixes[1])

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode questions; the same but for the prefix."""
        return self._encode(texts, self.prefixes[0])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as a passage, its prefix and special tokens included, uncut."""
        refuse_one_string(texts)
        model, prefix = self._model(), self.prefixes[1]
        special = model.counter.num_special_tokens_to_add(False)
        found = plain_encodings(model.counter, [_after(prefix, text) for text in texts])
        return [len(encoding.ids) + special for encoding in found]

    def _encode(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        refuse_one_string(texts)
        loaded, size = self._model(), self.config.batch_size
        for position, encoding in enumerate(plain_encodings(loaded.counter, texts)):
            if not encoding.ids:
                raise EncodeError(f"text {position} is blank: it has no token to encode")

        def vectors_of(batch: Sequence[str]) -> NDArray[np.float32]:
            found: NDArray[np.float32] = loaded.model.encode(
                list(batch), prompt=prefix, batch_size=size, show_progress_bar=False
            )
            return found[:, : loaded.dimension].astype(np.float32, copy=False)

        batches = [texts[start : start + size] for start in range(0, len(texts), size)]
        at_once = None if self.config.device == "cpu" else 1
        rows = each_on_one_thread(vectors_of, batches, at_once=at_once)
        return unit_rows(np.concatenate([np.empty((0, loaded.dimension), np.float32), *rows]))

    def _prompts(self) -> dict[str, str]:
        path = self.folder / _PROMPTS
        prompts = read_config(path).get("prompts") if path.exists() else None
        return {
            name: text
            for name, text in (prompts if isinstance(prompts, dict) else {}).items()
            if isinstance(text, str)
        }

    def _pooling(self) -> Literal["cls", "mean"] | None:
        """What to pool by; None leaves that to the model's folder."""
        if self.config.pooling != "auto":
            return self.config.pooling
        if (self.folder / _MODULES).exists():
            return None
        return "cls" if family_of(self.config.model).cls else "mean"

    def _load(self) -> _Loaded:
        import tokenizers

        library = import_runtime("sentence_transformers", extra=EXTRA)
        try:
            with quiet_loading():
                model = library.SentenceTransformer(
                    str(self.folder),
                    device=self.config.device,
                    local_files_only=True,
                    trust_remote_code=False,
                )
        except Exception as error:
            raise ModelError(f"{self.folder} makes no model: {error}") from error
        model.float()
        fast = getattr(model.tokenizer, "backend_tokenizer", None)
        if fast is None:
            raise ModelError(f"{self.folder} has no fast tokenizer of transformers")
        # Otherwise "[SEP]" inside a text would turn into the special token.
        model.tokenizer.split_special_tokens = True
        counter = tokenizers.Tokenizer.from_str(fast.to_str())
        counter.no_truncation()
        counter.no_padding()
        counter.encode_special_tokens = True
        if (pooling := self._pooling()) is not None:
            self._pool_by(model, pooling)
        limit = int(model.max_seq_length)
        wanted = self.config.max_tokens or limit
        if wanted > limit:
            raise ModelError(
                f"max_tokens is {wanted}, but the model in {self.folder} takes {limit}"
            )
        model.max_seq_length = wanted
        # The tokenizer takes over its settings at the first text; threads may not do that at once.
        width = model.encode(["first"], show_progress_bar=False).shape[1]
        dimension = self.config.truncate_dim or width
        if dimension > width:
            raise ModelError(
                f"truncate_dim is {dimension}, but vectors of {self.folder} have {width} components"
            )
        return _Loaded(model, counter, dimension, wanted)

    def _pool_by(self, model: Any, mode: str) -> None:
        for place, module in enumerate(model):
            if type(module).__name__ == "Pooling":
                model[place] = type(module)(model[0].auto_model.config.hidden_size, mode)
                return
        raise ModelError(f"{self.folder} has no pooling to set to {mode}")


def _after(prefix: str, text: str) -> str:
    # What is no text is refused by its position where it is tokenised.
    return prefix + text if isinstance(text, str) else text
