"""Search in a bundle on disk."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from laya_index.bundle.cache import cache_folder
from laya_index.bundle.manifest import Manifest, read_manifest
from laya_index.bundle.reader import BundleReader
from laya_retrieval.candidate import Candidate
from laya_retrieval.retrieve.backend import Capability
from laya_retrieval.retrieve.query import QueryBundle

from laya_rag.access import Access
from laya_rag.backend import approximate as approximate_search
from laya_rag.backend.arrays import ArrayFolder
from laya_rag.backend.build import FIELDS, Progress, write_arrays
from laya_rag.backend.derived import DerivedCache
from laya_rag.backend.models import QueryModels
from laya_rag.backend.scope import Scope
from laya_rag.backend.snapshot import Snapshot
from laya_rag.backend.view import BundleView
from laya_rag.errors import RagError

__all__ = ["FIELDS", "BundleBackend"]

_SEARCH = "search"
# One byte for every chunk each: enough for the callers of a moment, not for all that ever came.
_SCOPES = 16

_EVERYTHING = Access(all_tenants=True, min_trust="quarantined")


class BundleBackend:
    """A `CorpusBackend` over a bundle as it is when opened.

    Nothing of the corpus is held in memory: the arrays that it is searched with lie in a cache
    beside the bundle (or in the folder `cache`), made by the first who opens it, and are read from
    there. `progress` is told what is being made, how many steps are done and how many there are;
    what it raises ends the work and leaves nothing behind.

    `approximate` says whether vectors are searched by faiss (True) or one and all (False); None
    leaves it to the size of the corpus, and to whether faiss is installed. Callers who may see only
    part of the corpus always search exactly.

    Raises `ManifestError` or `BundleError` when the bundle cannot be read, `ModelMismatchError`,
    with both fingerprints, when it was built with a model whose results this installation cannot
    reproduce, `CacheError` when the arrays cannot be written anywhere, and `MissingExtraError` when
    approximate search is asked for without faiss.
    """

    def __init__(
        self,
        path: Path,
        *,
        approximate: bool | None = None,
        cache: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        if approximate:
            approximate_search.require()
        self.path = path
        report = progress if progress is not None else _silent
        root = (cache if cache is not None else cache_folder(path)) / _SEARCH
        manifest = read_manifest(path)
        models = QueryModels.of(manifest, path)
        derived = DerivedCache(root, identity_of(manifest))
        arrays = derived.open("arrays", ArrayFolder)
        if arrays is None:
            with BundleReader.open(path) as reader:
                if reader.manifest != manifest:
                    # A writer was quicker; what it wrote is what is opened.
                    manifest = reader.manifest
                    models = QueryModels.of(manifest, path)
                    derived = DerivedCache(root, identity_of(manifest))
                fill = partial(write_arrays, reader, progress=report)
                arrays = derived.build("arrays", fill, ArrayFolder)
        self._snapshot: Snapshot | None = Snapshot(manifest, arrays, models)
        if approximate is None:
            large = manifest.counts.chunks >= approximate_search.FROM_CHUNKS
            approximate = large and approximate_search.available()
        if approximate:
            self._snapshot.open_approximate(derived, report)
        if read_manifest(path) == manifest:
            derived.clean()
        self._manifest = manifest
        self._identity = identity_of(manifest)
        self._scopes: OrderedDict[Access, Scope] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def manifest(self) -> Manifest:
        """The manifest of the bundle as it was opened."""
        return self._manifest

    @property
    def identity(self) -> str:
        """The SHA-256 of the manifest's text, in hex digits."""
        return self._identity

    def view(self, access: Access) -> BundleView:
        """What `access` may see; raises `AccessError` when it may see nothing by rule."""
        if self._snapshot is None:
            raise RagError(f"bundle {str(self.path)!r} was closed")
        with self._lock:
            scope = self._scopes.pop(access, None)
        if scope is None:
            scope = self._scope(self._snapshot, access)
        with self._lock:
            self._scopes[access] = scope
            while len(self._scopes) > _SCOPES:
                self._scopes.popitem(last=False)
        return BundleView(self._snapshot, scope)

    def _scope(self, snapshot: Snapshot, access: Access) -> Scope:
        mask = np.ones(snapshot.chunks, dtype=bool)
        for rule in access.rules(self.manifest.tenants is not None):
            mask &= snapshot.columns.matching(rule)
        return Scope.of(mask, {} if snapshot.lexical is None else snapshot.lexical.lengths)

    def close(self) -> None:
        """Let go of the bundle; its files stay open as long as somebody holds a view of it."""
        self._snapshot = None
        self._scopes.clear()

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The legs that the bundle has signals for, and FILTER."""
        return self.view(_EVERYTHING).capabilities

    def query(self, text: str, **options: Any) -> QueryBundle:
        """A query with every signal that this bundle can be searched with."""
        return self.view(_EVERYTHING).query(text, **options)

    def search(self, query: QueryBundle) -> Mapping[str, list[Candidate]]:
        """Search everything, whoever may see it: for measurements, and behind guards."""
        return self.view(_EVERYTHING).search(query)


def identity_of(manifest: Manifest) -> str:
    """The SHA-256 of the manifest's text, in hex digits."""
    return hashlib.sha256(manifest.to_json().encode("utf-8")).hexdigest()


def _silent(what: str, done: int, total: int) -> None:
    """Report nothing."""
