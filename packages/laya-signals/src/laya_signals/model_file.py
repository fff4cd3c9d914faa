"""Reading a model's files only as they were recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import laya_mini

from laya_signals.errors import ModelError


def read_verified(folder: Path, name: str, hashes: Mapping[str, str]) -> bytes:
    """The bytes of `folder / name`, whose SHA-256 in hex must be `hashes[name]`.

    Raises `ModelError`, naming the file, when it cannot be read or is altered.
    """
    path = folder / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != hashes.get(name):
        raise ModelError(f"{path} is altered: its SHA-256 is not the recorded one")
    return content


def shipped_hashes(folder: str) -> dict[str, str]:
    """SHA-256 in hex by file name, of the files in a folder of the embedded models."""
    prefix = f"{folder}/"
    return {
        name.removeprefix(prefix): digest
        for name, digest in laya_mini.hashes().items()
        if name.startswith(prefix)
    }


def verify(folder: Path, hashes: Mapping[str, str]) -> None:
    """Compare files with their expected SHA-256 in hex, by path relative to the folder.

    Raises `ModelError`, naming the first file that is missing or differs.
    """
    for name, expected in hashes.items():
        if digest_of(folder / name) != expected.lower():
            raise ModelError(f"{folder / name} is altered: its SHA-256 is not the expected one")


def digest_of(path: Path) -> str:
    """The SHA-256 of a file in hex, read in pieces."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from error
