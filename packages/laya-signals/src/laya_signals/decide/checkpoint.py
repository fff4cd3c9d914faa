"""The folder format of Laya checkpoints, read and written without torch.

- `rl_agent_config.json`: see `CheckpointConfig`
- `model.safetensors`: every tensor of encoder and head, fp16
- `encoder/config.json`: a transformers configuration
- `tokenizer/`: `tokenizer.json`, and what names its special tokens
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from laya_signals.component import describe
from laya_signals.decide.base import QuestionType
from laya_signals.decide.question import TYPE_INDEX
from laya_signals.decide.sequence import SequenceBuilder, SpecialTokens
from laya_signals.decide.temperature import bucket, clamped
from laya_signals.errors import MissingExtraError, ModelError
from laya_signals.model_file import digest_of

if TYPE_CHECKING:
    import tokenizers

CONFIG = "rl_agent_config.json"
WEIGHTS = "model.safetensors"
ENCODER = "encoder/config.json"
TOKENIZER = "tokenizer/tokenizer.json"
_NAMES_OF_SPECIAL_TOKENS = ("tokenizer_config.json", "special_tokens_map.json")

#: A number in a file: `true` is none, and neither is the text "1".
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class CheckpointConfig(BaseModel):
    """`rl_agent_config.json`; keys that are not listed here are kept as they are.

    Temperatures are kept as written and clamped where they are applied.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    #: Name of the encoder that the checkpoint was trained from.
    encoder: str
    #: Transformer layers between the encoder and the scorer.
    head_layers: int = Field(default=2, ge=0)
    #: Tokens of a whole sequence.
    max_len: int = Field(default=512, ge=16)
    #: Tokens of its head half: the question and its options.
    head_max_len: int = Field(default=192, ge=8)
    #: For choice, score and noul.
    temperature: tuple[Number, Number, Number] = (1.0, 1.0, 1.0)
    #: By type and number of options, as in `choice:6-10`; goes before `temperature`.
    temperature_by_options: dict[str, Number] = Field(default_factory=dict)
    #: Costs of the actions that the act head chooses from; it is kept, and not used here.
    act_costs: dict[str, Number] = Field(default_factory=dict)
    #: How positions are laid out; the parallel layout is another model, which is not supported.
    option_layout: Literal["sequential"] = "sequential"

    def temperature_of(self, kind: QuestionType, options: int) -> float:
        """What the logits of a question with this many options are divided by, clamped."""
        fitted = self.temperature_by_options.get(bucket(kind, options))
        return clamped(self.temperature[TYPE_INDEX[kind]] if fitted is None else fitted)


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint folder whose configuration has been read, and so far nothing else."""

    folder: Path
    config: CheckpointConfig

    def encoder_config(self) -> dict[str, Any]:
        """The transformers configuration of the encoder."""
        return _json(self.folder / ENCODER)

    @property
    def dimension(self) -> int:
        """Components of a hidden state of the encoder."""
        size = self.encoder_config().get("hidden_size")
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ModelError(f"{self.folder / ENCODER}: hidden_size must be a positive number")
        return size

    def tokenizer(self) -> tokenizers.Tokenizer:
        """The tokenizer, without truncation and padding."""
        return open_tokenizer(_bytes(self.folder / TOKENIZER), self.folder / TOKENIZER)

    def special_tokens(self, tokenizer: tokenizers.Tokenizer) -> SpecialTokens:
        """The tokens that structure a sequence, by the names that the folder's files give them."""
        names: dict[str, str] = {}
        for file in _NAMES_OF_SPECIAL_TOKENS:
            path = (self.folder / TOKENIZER).with_name(file)
            if path.exists():
                for key, value in _json(path).items():
                    text = value.get("content") if isinstance(value, Mapping) else value
                    if isinstance(text, str):
                        names.setdefault(key, text)
        keys = ("cls_token", "sep_token", "mask_token")
        found = [names[key] for key in keys if key in names]
        try:
            if len(found) == 3:
                return SpecialTokens.of(tokenizer, (found[0], found[1], found[2]))
            return SpecialTokens.of(tokenizer)
        except ModelError as error:
            raise ModelError(f"{self.folder / TOKENIZER}: {error}") from None

    def sequences(self) -> SequenceBuilder:
        """A builder of this checkpoint's sequences."""
        tokenizer = self.tokenizer()
        return SequenceBuilder(
            tokenizer,
            self.special_tokens(tokenizer),
            max_len=self.config.max_len,
            head_max_len=self.config.head_max_len,
        )

    def digests(self) -> dict[str, str]:
        """SHA-256 in hex of every file that decides an answer, by path relative to the folder.

        Reads all the weights: seconds for a large checkpoint.
        """
        files = [CONFIG, WEIGHTS, ENCODER, TOKENIZER]
        files += [f"tokenizer/{name}" for name in _NAMES_OF_SPECIAL_TOKENS]
        present = [name for name in files if (self.folder / name).exists()]
        return {name: digest_of(self.folder / name) for name in present}


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read the configuration of a checkpoint folder.

    Raises `ModelError`, naming the file and the key, when it is missing or wrong.
    """
    path = folder / CONFIG
    try:
        return Checkpoint(folder, CheckpointConfig.model_validate(_json(path)))
    except ValidationError as error:
        raise ModelError(f"{path}: {describe(error)}") from error


def write_checkpoint(
    folder: Path,
    *,
    config: CheckpointConfig,
    weights: Mapping[str, NDArray[Any]],
    encoder: Mapping[str, Any],
    tokenizer: Mapping[str, bytes],
) -> Checkpoint:
    """Write a checkpoint folder, its floats as fp16, and return it as read.

    `weights` are named as in `model.safetensors`; `encoder` is a transformers configuration;
    `tokenizer` holds the content of each file by name, `tokenizer.json` among them. Raises
    `ModelError` when a weight is too large for fp16 or not finite, and `MissingExtraError` without
    the package safetensors.
    """
    if (missing := Path(TOKENIZER).name) not in tokenizer:
        raise ModelError(f"a checkpoint needs the file tokenizer/{missing}")
    halves: dict[str, NDArray[Any]] = {}
    for name, values in weights.items():
        with np.errstate(over="ignore"):
            half = values.astype(np.float16) if values.dtype.kind == "f" else values
        if half.dtype.kind == "f" and not np.isfinite(half).all():
            raise ModelError(f"the weight {name} does not fit into fp16")
        halves[name] = np.ascontiguousarray(half)
    content = _safetensors().save(halves)
    (folder / "encoder").mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer").mkdir(exist_ok=True)
    (folder / WEIGHTS).write_bytes(content)
    (folder / ENCODER).write_text(_dumped(dict(encoder)), encoding="utf-8")
    for name, data in tokenizer.items():
        (folder / "tokenizer" / name).write_bytes(data)
    dumped = config.model_dump(mode="json", exclude_defaults=False)
    if "option_layout" not in config.model_fields_set:
        del dumped["option_layout"]
    (folder / CONFIG).write_text(_dumped(dumped), encoding="utf-8")
    return read_checkpoint(folder)


def open_tokenizer(content: bytes, path: Path) -> tokenizers.Tokenizer:
    """A tokenizer from the bytes of a `tokenizer.json`, without truncation and padding."""
    import tokenizers

    try:
        tokenizer = tokenizers.Tokenizer.from_buffer(content)
    except Exception as error:
        raise ModelError(f"{path} is no tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def check_weights(path: Path, expected: Mapping[str, tuple[int, ...]], found: Any) -> None:
    """Compare names and shapes: every expected tensor must be there, in its shape, and no other.

    Tensors of the act head and the `temperature` buffer may be there as well: answers do not need
    them. Raises `ModelError`, naming the file and the first tensor that is wrong.
    """
    for name, shape in expected.items():
        if name not in found:
            raise ModelError(f"{path}: the tensor {name} is missing")
        if tuple(found[name].shape) != tuple(shape):
            raise ModelError(
                f"{path}: the tensor {name} has shape {tuple(found[name].shape)}, "
                f"not {tuple(shape)}"
            )
    spare = _unused(found, expected)
    if spare:
        raise ModelError(
            f"{path}: the tensor {spare[0]} is not part of the model that {CONFIG} describes"
        )


def _unused(found: Iterable[str], expected: Mapping[str, Any]) -> list[str]:
    return sorted(
        name
        for name in found
        if name not in expected and name != "temperature" and not name.startswith("act_head.")
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from error


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(_bytes(path))
    except ValueError as error:
        raise ModelError(f"{path} is no JSON: {error}") from error
    if not isinstance(content, dict):
        raise ModelError(f"{path} must hold a JSON object")
    return content


def _dumped(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _safetensors() -> Any:
    try:
        return import_module("safetensors.numpy")
    except ImportError as error:
        raise MissingExtraError(
            "writing a checkpoint needs the package safetensors: install laya-signals[models]"
        ) from error
