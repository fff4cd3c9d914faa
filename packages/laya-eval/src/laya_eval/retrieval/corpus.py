"""The corpus that is searched: a bundle, or the one that a stack builds from the data's corpus."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laya_index.bundle.manifest import Manifest
from laya_index.process import Progress, process
from laya_index.stack import load_stack
from laya_rag.access import Access
from laya_rag.backend.base import CorpusView
from laya_rag.backend.bundle import BundleBackend

from laya_eval.beir import corpus_file
from laya_eval.errors import UnknownSystemError

#: Where a stack's bundle goes, in the folder of the report.
BUNDLE = "bundle"


@dataclass(frozen=True, slots=True)
class Corpus:
    """An opened corpus, every passage of it: a measurement has no tenant and trusts everything."""

    view: CorpusView
    manifest: Manifest
    #: Hex digits that change whenever the corpus does.
    identity: str

    @property
    def legs(self) -> tuple[str, ...]:
        """The legs that can run, in the order in which a query names them."""
        return self.view.query("any").legs(self.view.capabilities)

    @property
    def description(self) -> dict[str, Any]:
        """What was searched, as JSON."""
        counts = self.manifest.counts
        return {
            "identity": self.identity,
            "stack": self.manifest.stack.name,
            "stack_hash": self.manifest.stack.hash,
            "documents": counts.documents,
            "chunks": counts.chunks,
        }

    def chosen(self, legs: Sequence[str] | None) -> tuple[str, ...]:
        """The legs to run; raises `UnknownSystemError` for one that the corpus cannot serve."""
        for leg in legs or ():
            if leg not in self.legs:
                raise UnknownSystemError(
                    f"this corpus has no leg {leg!r}; it has {', '.join(self.legs)}"
                )
        return self.legs if legs is None else tuple(legs)


def open_corpus(bundle: Path) -> Corpus:
    """The bundle in folder `bundle`, whole; raises what `BundleBackend` raises."""
    backend = BundleBackend(bundle)
    view = backend.view(Access(all_tenants=True, min_trust="quarantined"))
    return Corpus(view, backend.manifest, backend.identity)


def build_bundle(
    stack: Path,
    data: Path,
    out: Path,
    *,
    sets: Sequence[str] = (),
    progress: Progress | None = None,
) -> None:
    """Build or update the bundle of a stack file in folder `out`.

    A stack that reads JSON lines gets the corpus of the data folder as its `source.path`, unless
    `sets` (`stage.key=value`, as in `laya process`) names another. Raises `DataError` for a folder
    without a corpus, and what `process` raises.
    """
    loaded = load_stack(stack, sets=sets, out=out)
    reads_lines = loaded.model.source.provider == "source.jsonl"
    if reads_lines and not any(item.partition("=")[0].strip() == "source.path" for item in sets):
        path = json.dumps(str(corpus_file(data)))
        loaded = load_stack(stack, sets=[*sets, f"source.path={path}"], out=out)
    process(loaded, progress=progress)
