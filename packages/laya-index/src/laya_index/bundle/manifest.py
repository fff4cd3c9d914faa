"""The manifest: a bundle's commit point."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from laya_signals.component import describe
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from laya_index.errors import ManifestError

FORMAT_VERSION = 1
FILE_NAME = "manifest.json"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FileEntry(_Part):
    """One file of the bundle; `inputs` identifies what it was made from, so it can be kept."""

    path: str
    kind: str
    rows: int
    bytes: int
    sha256: str
    shard: int | None = None
    inputs: str | None = None

    @property
    def shard_inputs(self) -> str | None:
        """`inputs` of the shard alone: a chunk file's also say what its headers hold."""
        return None if self.inputs is None else self.inputs.partition("-")[0]


class StackEntry(_Part):
    """Which stack built the bundle."""

    name: str
    hash: str


class Counts(_Part):
    """Totals; `skipped` is by reason, `redactions` by kind."""

    documents: int
    chunks: int
    terms: int
    skipped: dict[str, int]
    redactions: dict[str, int]


class Bm25FieldEntry(_Part):
    """How one field counts in BM25F; `avg_len` is its mean number of terms in a chunk."""

    weight: float
    b: float
    avg_len: float


class Bm25Entry(_Part):
    """What a query needs to score the lexical signal exactly as it was built.

    With `fields` it is BM25F, which `b` and `title_weight` have no part in.
    """

    doc_count: int
    avg_doc_len: float
    k1: float
    b: float
    title_weight: int
    tokenizer: dict[str, Any]
    tokenizer_fingerprint: str
    fields: dict[str, Bm25FieldEntry] | None = Field(
        default=None, exclude_if=lambda fields: fields is None
    )


class EmbeddingEntry(_Part):
    """Which encoder made an embedding column; a query must be encoded by the same one."""

    provider: str
    config: dict[str, Any]
    fingerprint: str
    dimension: int
    #: Of the column's components. Like every later addition, left out of the file where it says
    #: nothing: a bundle without it is the same bytes as before there was such a thing.
    dtype: str = Field(default="float32", exclude_if=lambda dtype: dtype == "float32")


class SignalEntry(_Part):
    """What made any other signal, and where it is: columns of the chunk files, files of a kind.

    `dimension` is the number of indices (sparse) or of components (multi-vectors, FDE).
    """

    provider: str
    config: dict[str, Any]
    fingerprint: str
    columns: list[str] = Field(default_factory=list)
    kind: str | None = Field(default=None, exclude_if=lambda kind: kind is None)
    #: How sparse vectors were composed with entities and metadata; a query does it the same way.
    compose: dict[str, Any] | None = Field(default=None, exclude_if=lambda compose: compose is None)
    dimension: int | None = Field(default=None, exclude_if=lambda dimension: dimension is None)


def _limit(usual: int) -> Any:
    """A limit that a bundle states unless it is the usual one, like every later addition."""
    return Field(default=usual, exclude_if=lambda limit: limit == usual)


class GraphEntry(_Part):
    """What made the graph, and how large it is; `centrality` is the feature in context headers.

    The limits are those of the stack's block, so that the graph can be put together again without
    the stack.
    """

    provider: str
    config: dict[str, Any]
    fingerprint: str
    features: list[dict[str, Any]]
    max_nodes: int = _limit(32)
    max_neighbors: int = _limit(32)
    max_evidence: int = _limit(16)
    centrality: str
    nodes: int
    edges: int
    communities: int


class Manifest(_Part):
    """Everything about a bundle except its rows. No time, no host, no absolute path."""

    format_version: int = FORMAT_VERSION
    stack: StackEntry
    counts: Counts
    components: dict[str, str]
    tenants: list[str] | None
    bm25: Bm25Entry | None
    embeddings: dict[str, EmbeddingEntry]
    signals: dict[str, SignalEntry] = Field(
        default_factory=dict, exclude_if=lambda signals: not signals
    )
    graph: GraphEntry | None = Field(default=None, exclude_if=lambda graph: graph is None)
    #: Whether the chunker looked at the whole corpus before it cut the first document.
    sized_by_corpus: bool = Field(default=False, exclude_if=lambda sized: not sized)
    #: Ids of documents that were deleted from the bundle; `process` leaves them out.
    excluded: list[str] = Field(default_factory=list, exclude_if=lambda excluded: not excluded)
    files: list[FileEntry]

    def of_kind(self, kind: str) -> list[FileEntry]:
        """The files of one kind, in the order of their rows."""
        return [entry for entry in self.files if entry.kind == kind]

    def to_json(self) -> str:
        """Canonical, readable JSON."""
        return json.dumps(self.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"


def read_manifest(bundle: Path) -> Manifest:
    """The manifest of the bundle in folder `bundle`.

    Raises `ManifestError` when there is none, when it is damaged, or when its format version is
    not the one that this release reads.
    """
    path = bundle / FILE_NAME
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ManifestError(
            f"{str(bundle)!r} holds no bundle (no {FILE_NAME}); `laya process STACK` makes one"
        ) from error
    except (OSError, ValueError) as error:
        raise ManifestError(f"cannot read {str(path)!r}: {error}") from error
    version = data.get("format_version") if isinstance(data, dict) else None
    if version != FORMAT_VERSION:
        raise ManifestError(
            f"{str(path)!r} has format version {version!r}, this release reads {FORMAT_VERSION}; "
            "build the bundle again with `laya process --full`"
        )
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        raise ManifestError(f"{str(path)!r} is damaged: {describe(error)}") from error
