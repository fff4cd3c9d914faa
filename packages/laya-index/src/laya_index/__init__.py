"""The index clock of Laya's retrieval toolkit: documents in, a reproducible Parquet bundle out."""

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
