"""The index clock of Laya's retrieval toolkit: documents in, a reproducible Parquet bundle out."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from laya_index.bundle.manifest import Manifest, read_manifest
    from laya_index.bundle.reader import BundleReader
    from laya_index.chunk.base import Chunker
    from laya_index.delete import DeleteReport, delete, restore
    from laya_index.document import Chunk, RedactedDocument, Skipped, SourceDocument, Span
    from laya_index.engine.base import MapEngine
    from laya_index.engine.local import LocalEngine
    from laya_index.errors import (
        BundleError,
        ChunkError,
        EngineError,
        IndexingError,
        LockedError,
        ManifestError,
        SignalStageError,
        SourceError,
        StackError,
        UnknownDocumentError,
    )
    from laya_index.graph.entity import EntityExtractor, Mention
    from laya_index.process import Progress, RunReport, process
    from laya_index.redact.base import Finding, Redactor
    from laya_index.source.base import Source
    from laya_index.stack import Stack, load_stack, parse_stack
    from laya_index.trust import Trust, TrustPolicy

__all__ = [
    "BundleError",
    "BundleReader",
    "Chunk",
    "ChunkError",
    "Chunker",
    "DeleteReport",
    "EngineError",
    "EntityExtractor",
    "Finding",
    "IndexingError",
    "LocalEngine",
    "LockedError",
    "Manifest",
    "ManifestError",
    "MapEngine",
    "Mention",
    "Progress",
    "RedactedDocument",
    "Redactor",
    "RunReport",
    "SignalStageError",
    "Skipped",
    "Source",
    "SourceDocument",
    "SourceError",
    "Span",
    "Stack",
    "StackError",
    "Trust",
    "TrustPolicy",
    "UnknownDocumentError",
    "delete",
    "load_stack",
    "parse_stack",
    "process",
    "read_manifest",
    "restore",
]

# A query needs a bundle and nothing that makes one: what is named here is imported when it is
# first asked for.
_HOMES = {
    "BundleError": "laya_index.errors",
    "BundleReader": "laya_index.bundle.reader",
    "Chunk": "laya_index.document",
    "ChunkError": "laya_index.errors",
    "Chunker": "laya_index.chunk.base",
    "DeleteReport": "laya_index.delete",
    "EngineError": "laya_index.errors",
    "EntityExtractor": "laya_index.graph.entity",
    "Finding": "laya_index.redact.base",
    "IndexingError": "laya_index.errors",
    "LocalEngine": "laya_index.engine.local",
    "LockedError": "laya_index.errors",
    "Manifest": "laya_index.bundle.manifest",
    "ManifestError": "laya_index.errors",
    "MapEngine": "laya_index.engine.base",
    "Mention": "laya_index.graph.entity",
    "Progress": "laya_index.process",
    "RedactedDocument": "laya_index.document",
    "Redactor": "laya_index.redact.base",
    "RunReport": "laya_index.process",
    "SignalStageError": "laya_index.errors",
    "Skipped": "laya_index.document",
    "Source": "laya_index.source.base",
    "SourceDocument": "laya_index.document",
    "SourceError": "laya_index.errors",
    "Span": "laya_index.document",
    "Stack": "laya_index.stack",
    "StackError": "laya_index.errors",
    "Trust": "laya_index.trust",
    "TrustPolicy": "laya_index.trust",
    "UnknownDocumentError": "laya_index.errors",
    "delete": "laya_index.delete",
    "load_stack": "laya_index.stack",
    "parse_stack": "laya_index.stack",
    "process": "laya_index.process",
    "read_manifest": "laya_index.bundle.manifest",
    "restore": "laya_index.delete",
}


class _Package(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = getattr(import_module(_HOMES[name]), name)
        setattr(self, name, found)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        # An import binds a submodule in its package, but `process` and `delete` are the functions.
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_HOMES})


sys.modules[__name__].__class__ = _Package
