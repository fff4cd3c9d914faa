"""The engine behind a server: opened when it is first needed, and again when the index changed."""

from __future__ import annotations

import threading
from pathlib import Path

from laya_index.bundle.manifest import FILE_NAME, read_manifest
from laya_index.errors import ManifestError

from laya_rag.backend.bundle import identity_of
from laya_rag.config import Settings
from laya_rag.engine import Engine

_Stamp = tuple[int, int, int] | None


class EngineSource:
    """Opens the settings' bundle at the first call, and anew once another one lies there.

    What runs meanwhile keeps the engine that it began with. With `engine`, that one is used and
    never replaced. Thread-safe.
    """

    def __init__(self, settings: Settings, *, engine: Engine | None = None) -> None:
        self.settings = settings
        self._given = engine
        self._engine = engine
        self._stamp: _Stamp = None
        self._lock = threading.Lock()

    @property
    def bundle(self) -> Path | None:
        """The bundle's folder; None for a store, or for an engine that was given."""
        place = self.settings.bundle
        return None if self._given is not None or "://" in place else Path(place)

    def engine(self) -> Engine:
        """The engine over the newest index; raises as `Engine.open`."""
        with self._lock:
            stamp = self._stamped()
            if self._engine is None or stamp != self._stamp:
                self._engine = Engine.open(settings=self.settings)
                self._stamp = stamp
            return self._engine

    def missing(self) -> bool:
        """Whether there is no index at all."""
        return self.bundle is not None and not (self.bundle / FILE_NAME).exists()

    def current(self) -> bool | None:
        """Whether the engine has the index that lies on disk; None where there is no such file."""
        if self.bundle is None:
            return None
        try:
            return identity_of(read_manifest(self.bundle)) == self.engine().backend.identity
        except ManifestError:
            return False

    def close(self) -> None:
        """Close the engine, if one was opened."""
        with self._lock:
            if self._engine is not None:
                self._engine.close()
            self._engine = None

    def _stamped(self) -> _Stamp:
        """What changes whenever another manifest is put in place."""
        if self.bundle is None:
            return None
        try:
            found = (self.bundle / FILE_NAME).stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size
