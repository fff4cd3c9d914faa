"""From a place to the corpus that lies there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from laya_rag.backend.base import CorpusBackend
from laya_rag.backend.bundle import BundleBackend


def open_corpus(
    place: str | Path,
    *,
    approximate: bool | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> CorpusBackend:
    """The bundle in a folder, or what `laya push` wrote to a store, by its address.

    `approximate` False compares vectors one and all, and None leaves it to the corpus or the store.
    Raises `ManifestError`, `BundleError` or `ModelMismatchError` for a bundle that cannot be used,
    `StoreError` for a store, and `MissingExtraError` where its client is not installed.
    """
    if not isinstance(place, str) or "://" not in place:
        return BundleBackend(Path(place), approximate=approximate, progress=progress)
    from laya_rag.backend.store import parse_target

    target = parse_target(place)
    exact = approximate is False
    if target.kind == "lancedb":
        from laya_rag.backend.lancedb import LanceDbBackend

        return LanceDbBackend(target, exact=exact)
    from laya_rag.backend.qdrant import QdrantBackend

    return QdrantBackend(target, exact=exact)
