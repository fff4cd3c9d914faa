"""A folder with a model and a fast tokenizer, as transformers reads and writes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from laya_signals.errors import ModelError
from laya_signals.model_file import digest_of
from laya_signals.model_source import ModelSource, import_runtime

if TYPE_CHECKING:
    import tokenizers

CONFIG = "config.json"
_SAFE, _PICKLED = "*.safetensors", "pytorch_model*.bin"
#: What decides a model's output, weights aside: configurations and vocabularies.
_TEXTS = ("*.json", "*.txt", "*.model")


@dataclass(frozen=True)
class TransformersFolder:
    """The folder, and its configuration; nothing else has been read."""

    path: Path
    config: dict[str, Any]

    @classmethod
    def open(cls, source: ModelSource) -> TransformersFolder:
        """Find a model and read its configuration.

        Raises `ModelError`, naming the file, when something is missing or wrong.
        """
        folder = find_model(source)
        return cls(folder, read_config(folder / CONFIG))

    @property
    def vocabulary_size(self) -> int:
        """Logits of a language model's head."""
        return self._number("vocab_size")

    @property
    def max_tokens(self) -> int:
        """Tokens that the model takes: its positions, or fewer where its tokenizer says so."""
        stated = self._transformers_tokenizer().model_max_length
        return min(int(stated), self._number("max_position_embeddings"))

    def _number(self, key: str) -> int:
        value = self.config.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ModelError(f"{self.path / CONFIG}: {key} must be a positive number")
        return value

    def tokenizer(self) -> tokenizers.Tokenizer:
        """The fast tokenizer, uncut and unpadded, to which special tokens in a text are text."""
        fast = getattr(self._transformers_tokenizer(), "backend_tokenizer", None)
        if fast is None:
            raise ModelError(f"{self.path} has no fast tokenizer (tokenizer.json)")
        fast.no_truncation()
        fast.no_padding()
        fast.encode_special_tokens = True
        found: tokenizers.Tokenizer = fast
        return found

    def load(self, kind: str, device: str) -> Any:
        """The network that the class `kind` of transformers makes of it, in float32, on `device`.

        Raises `ModelError` when it cannot be loaded, or lacks weights: a model without the wanted
        head would otherwise get a random one.
        """
        torch, transformers = import_runtime("torch"), import_runtime("transformers")
        try:
            with quiet_loading():
                network, info = getattr(transformers, kind).from_pretrained(
                    self.path, dtype=torch.float32, local_files_only=True, output_loading_info=True
                )
        except Exception as error:
            raise ModelError(f"{self.path} makes no {kind}: {error}") from error
        for key, what in (("missing_keys", "is missing"), ("mismatched_keys", "has another shape")):
            if info[key]:
                first = sorted(map(str, info[key]))[0]
                raise ModelError(f"{self.path} makes no {kind}: the weight {first} {what}")
        try:
            return network.to(device).eval()
        except (RuntimeError, AssertionError) as error:
            raise ModelError(f"cannot use the device {device!r}: {error}") from error

    def _transformers_tokenizer(self) -> Any:
        transformers = import_runtime("transformers")
        try:
            return transformers.AutoTokenizer.from_pretrained(self.path, local_files_only=True)
        except Exception as error:
            raise ModelError(f"{self.path} has no usable tokenizer: {error}") from error


def find_model(source: ModelSource, *, extra: str = "models") -> Path:
    """The folder of a model with safetensors weights, or with older ones where there are no others.

    Raises `ModelError` when there is none, and `MissingExtraError` naming `extra`.
    """
    folder = source.folder((*_TEXTS, _SAFE), extra=extra)
    if not any(folder.rglob(_SAFE)) and not Path(source.model).expanduser().is_dir():
        folder = source.folder((*_TEXTS, _PICKLED), extra=extra)
    return folder


def read_config(path: Path) -> dict[str, Any]:
    """A JSON object from a file; raises `ModelError`, naming it."""
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ModelError(f"{path} is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise ModelError(f"{path} must hold a JSON object")
    return config


def model_digests(folder: Path) -> dict[str, str]:
    """SHA-256 in hex of the files that decide a model's output, by path relative to `folder`.

    Reads all the weights: seconds for a large model.
    """
    patterns = (*_TEXTS, _SAFE if any(folder.rglob(_SAFE)) else _PICKLED)
    names = sorted(
        item.relative_to(folder).as_posix()
        for item in folder.rglob("*")
        if item.is_file() and any(fnmatch(item.name, pattern) for pattern in patterns)
    )
    return {name: digest_of(folder / name) for name in names}


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Without the bar that transformers draws over a program's own progress."""
    logging = import_runtime("transformers").utils.logging
    if not logging.is_progress_bar_enabled():
        yield
        return
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.enable_progress_bar()
