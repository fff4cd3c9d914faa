"""From a folder or the name of a repository on the Hugging Face hub to a model's folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from laya_signals.errors import MissingExtraError, ModelError
from laya_signals.model_file import verify


def model_folder(
    model: str,
    *,
    files: Sequence[str],
    revision: str | None = None,
    subfolder: str | None = None,
    hashes: Mapping[str, str] | None = None,
    extra: str = "models",
) -> Path:
    """Find the folder of a model and compare it with `hashes`; reads nothing else.

    `model` is a folder, or `owner/name` on the hub, of which `files` (patterns) are downloaded once
    into the hub's own cache; with `HF_HUB_OFFLINE=1` nothing but that cache is looked at.
    `revision` pins a commit, a tag or a branch of it. `hashes` gives the SHA-256 in hex of files by
    their path relative to the result.

    Raises `ModelError` when the folder, the repository, or a file is missing or altered, and
    `MissingExtraError` naming `extra` where a download needs a package that is not installed.
    """
    local = Path(model).expanduser()
    if local.is_dir():
        if revision is not None:
            raise ModelError(f"{model} is a folder, which has no revision {revision!r}")
        root = local
    elif _is_path(model):
        raise ModelError(f"there is no checkpoint folder {model}")
    else:
        root = _snapshot(model, revision, subfolder, files, extra)
    folder = root / subfolder if subfolder else root
    if not folder.is_dir():
        raise ModelError(f"{model} has no folder {subfolder}")
    verify(folder, hashes or {})
    return folder


def _is_path(model: str) -> bool:
    return model.startswith((".", "~")) or model.count("/") != 1 or Path(model).is_absolute()


def _snapshot(
    repository: str,
    revision: str | None,
    subfolder: str | None,
    files: Sequence[str],
    extra: str,
) -> Path:
    try:
        import huggingface_hub
    except ImportError as error:
        raise MissingExtraError(
            f"downloading a checkpoint needs huggingface-hub: install laya-signals[{extra}]"
        ) from error
    prefix = f"{subfolder}/" if subfolder else ""
    try:
        found = huggingface_hub.snapshot_download(
            repository, revision=revision, allow_patterns=[prefix + name for name in files]
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
