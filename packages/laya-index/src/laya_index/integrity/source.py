"""The documents of a source against those that a bundle was built from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from laya_index.bundle.cache import cache_folder
from laya_index.bundle.manifest import Manifest
from laya_index.document import Skipped
from laya_index.integrity.report import Drift
from laya_index.source.base import Source
from laya_index.source.files import FilesSource
from laya_index.stack import Stack


@dataclass(frozen=True, slots=True)
class Indexed:
    """What a bundle remembers: digests of its documents, and the skips that were recorded.

    A skip is remembered with the version that it was decided on: reason, bytes, digest.
    """

    documents: Mapping[str, str]
    skips: Mapping[str, tuple[str, int, str]]


def find_drift(
    stack: Stack, manifest: Manifest, indexed: Indexed, advance: Callable[[int], None]
) -> Drift:
    """Read the source once and compare; `advance` is told of every document.

    Raises `StackError` and `SourceError` as a run would.
    """
    source = stack.build(("source",), Source)
    if isinstance(source, FilesSource):
        path = stack.model.export.path
        source.leave_out(path, cache_folder(path))
    excluded = set(manifest.excluded)
    gone = set(indexed.documents)
    unseen_skips = set(indexed.skips)
    why: dict[str, str] = {}
    changed: list[str] = []
    added: list[str] = []
    outdated: list[str] = []
    settled = left_out = 0
    for item in source.read():
        if item.id in excluded:
            left_out += 1
            continue
        if isinstance(item, Skipped):
            if item.id in indexed.documents:
                why[item.id] = item.reason
            if item.recorded:
                unseen_skips.discard(item.id)
                if indexed.skips.get(item.id) == (item.reason, item.bytes, item.digest):
                    settled += 1
                else:
                    outdated.append(item.id)
            continue
        advance(1)
        if item.id not in indexed.documents:
            added.append(item.id)
        else:
            gone.discard(item.id)
            if item.digest != indexed.documents[item.id]:
                changed.append(item.id)
    # A skipped file that is read now is new; one that is gone leaves a record behind.
    outdated += unseen_skips - set(added)
    return Drift(
        settings_changed=stack.hash != manifest.stack.hash,
        deleted={name: why.get(name, "") for name in sorted(gone)},
        changed=tuple(sorted(changed)),
        added=tuple(sorted(added)),
        outdated_skips=tuple(sorted(outdated)),
        settled_skips=settled,
        excluded=left_out,
    )
