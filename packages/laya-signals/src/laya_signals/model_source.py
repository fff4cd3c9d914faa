"""Where a model of one's own is, and where it runs: what all components over torch are told."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import Field

from laya_signals.component import ComponentConfig
from laya_signals.errors import MissingExtraError
from laya_signals.hub import model_folder


class ModelSource(ComponentConfig):
    """Settings that name a model: a folder or a repository on the hub, and a device.

    Where the model lies is no part of the fingerprint, which covers the files themselves: the same
    weights in another folder are the same model.
    """

    #: A checkpoint folder, or `owner/name` on the Hugging Face hub.
    model: str = Field(min_length=1, exclude=True)
    #: Commit, tag or branch on the hub. Pin a commit: a branch moves.
    revision: str | None = Field(default=None, exclude=True)
    #: Folder within the model, where one repository bundles several checkpoints.
    subfolder: str | None = Field(default=None, exclude=True)
    #: Expected SHA-256 in hex by file, relative to the checkpoint; checked before parsing.
    hashes: dict[str, str] = Field(default_factory=dict, exclude=True)
    #: A torch device, such as `cpu` or `cuda:0`.
    device: str = "cpu"

    def folder(self, files: Sequence[str], *, extra: str = "models") -> Path:
        """The model's folder, downloaded (`files` are patterns) and checked; see `model_folder`."""
        return model_folder(
            self.model,
            files=files,
            revision=self.revision,
            subfolder=self.subfolder,
            hashes=self.hashes,
            extra=extra,
        )


def import_runtime(name: str, *, extra: str = "models") -> Any:
    """Import a package that `extra` installs; `MissingExtraError` where it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError(
            f"running a checkpoint needs the package {name.partition('.')[0]}: "
            f"install laya-signals[{extra}]"
        ) from error
