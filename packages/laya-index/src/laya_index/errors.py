"""Everything that `laya_index` raises.

IndexingError
├── StackError        a stack file is wrong; the message names file, line and key
├── SourceError       a source as a whole cannot be read (a single bad document is skipped instead)
├── ChunkError        a chunker broke its contract
├── SignalStageError  a signal cannot be computed; the message names the record
├── EngineError       a worker process died
├── UnknownDocumentError  no document of the bundle has this id, or matches this pattern
└── BundleError       a bundle cannot be read or written
    ├── LockedError       another process is writing it; the message names the holder
    └── ManifestError     the manifest is missing, damaged, or of another format version
"""


class IndexingError(Exception):
    """Base class of every error raised by `laya_index`."""


class StackError(IndexingError):
    """A stack file is wrong; the message names the file, the line and the key."""


class SourceError(IndexingError):
    """A source as a whole cannot be read."""


class ChunkError(IndexingError):
    """A chunker returned spans that break its contract; the message names the document."""


class SignalStageError(IndexingError):
    """A signal cannot be computed; the message names the record."""


class EngineError(IndexingError):
    """A worker process died before it had done its work."""


class UnknownDocumentError(IndexingError):
    """No document of the bundle has this id, or matches this pattern; the message names it."""


class BundleError(IndexingError):
    """A bundle cannot be read or written; the message names the file."""


class LockedError(BundleError):
    """Another process is writing this bundle; the message names it."""


class ManifestError(BundleError):
    """The manifest is missing, damaged, or of a format version that this release cannot read."""
