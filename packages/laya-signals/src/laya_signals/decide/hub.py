"""From a folder or the name of a repository on the Hugging Face hub to a checkpoint folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from laya_signals.decide.checkpoint import Checkpoint, read_checkpoint, verify
from laya_signals.errors import MissingExtraError, ModelError

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

    `model` is a folder, or `owner/name` on the hub, which is downloaded once into the hub's own
    cache; with `HF_HUB_OFFLINE=1` nothing but that cache is looked at. `revision` pins a commit, a
    tag or a branch of it. `hashes` gives the SHA-256 in hex of files by their path relative to the
    checkpoint, and is checked before anything is parsed.

    Raises `ModelError` when the folder, the repository, or a file is missing or altered.
    """
    local = Path(model).expanduser()
    if local.is_dir():
        if revision is not None:
            raise ModelError(f"{model} is a folder, which has no revision {revision!r}")
        root = local
    elif _is_path(model):
        raise ModelError(f"there is no checkpoint folder {model}")
    else:
        root = _snapshot(model, revision, subfolder)
    folder = root / subfolder if subfolder else root
    if not folder.is_dir():
        raise ModelError(f"{model} has no folder {subfolder}")
    verify(folder, hashes or {})
    return read_checkpoint(folder)


def _is_path(model: str) -> bool:
    return model.startswith((".", "~")) or model.count("/") != 1 or Path(model).is_absolute()


def _snapshot(repository: str, revision: str | None, subfolder: str | None) -> Path:
    try:
        import huggingface_hub
    except ImportError as error:
        raise MissingExtraError(
            "downloading a checkpoint needs huggingface-hub: install laya-signals[models]"
        ) from error
    prefix = f"{subfolder}/" if subfolder else ""
    try:
        found = huggingface_hub.snapshot_download(
            repository, revision=revision, allow_patterns=[prefix + name for name in _FILES]
        )
    except Exception as error:
        pinned = "" if revision is None else f" at revision {revision!r}"
        offline = huggingface_hub.constants.HF_HUB_OFFLINE
        why = (
            "it is not in the local cache, and HF_HUB_OFFLINE forbids to look elsewhere"
            if offline
            else str(error).strip().partition("\n")[0]
        )
        raise ModelError(f"cannot get {repository}{pinned} from the hub: {why}") from error
    return Path(found)
