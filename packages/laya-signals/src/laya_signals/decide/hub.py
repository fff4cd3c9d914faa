"""From a folder or the name of a repository on the Hugging Face hub to a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping

from laya_signals.decide.checkpoint import Checkpoint, read_checkpoint
from laya_signals.hub import model_folder

#: What a checkpoint consists of; a repository may hold siblings that need not be downloaded.
_FILES = ("rl_agent_config.json", "model.safetensors", "tokenizer/*", "encoder/*")


def open_checkpoint(
    model: str,
    *,
    revision: str | None = None,
    subfolder: str | None = None,
    hashes: Mapping[str, str] | None = None,
) -> Checkpoint:
    """Find a checkpoint, compare it with `hashes`, and read its configuration.

    See `model_folder` for what `model` may be. Raises `ModelError` when the folder, the
    repository, or a file is missing or altered.
    """
    folder = model_folder(
        model, files=_FILES, revision=revision, subfolder=subfolder, hashes=hashes
    )
    return read_checkpoint(folder)
