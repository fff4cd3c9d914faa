"""What flows through the pipeline: raw documents, redacted documents, chunks.

Everything that generates a signal is handed chunks; a chunk knows only its redacted document, and
a redacted document does not keep the raw text. So raw text cannot reach a signal.
"""

from __future__ import annotations

import bisect
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from laya_signals.passage import titled


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document as its source gave it, decoded: no byte order mark, newlines are LF.

    `text` begins `offset` characters into the decoded document: what stands before it (front
    matter) was read as metadata.
    """

    id: str
    text: str
    title: str = ""
    media_type: str = "text/plain"
    uri: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    offset: int = 0

    @property
    def digest(self) -> str:
        """SHA-256 over everything that the pipeline reads from this document."""
        metadata = sorted(self.metadata.items())
        facts = [self.text, self.title, self.media_type, self.uri, metadata, self.offset]
        return hashlib.sha256(json.dumps(facts, ensure_ascii=False).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A document that its source left out, and why.

    `digest` and `bytes` pin the version that the decision was made on. `recorded` is false for
    what was never looked into (hidden, ignored): such skips are counted in the run's report but
    not written into the bundle, whose bytes may depend on document content alone.
    """

    id: str
    reason: str
    detail: str = ""
    bytes: int = 0
    digest: str = ""
    recorded: bool = True


@dataclass(frozen=True, slots=True)
class Replacement:
    """Raw characters `start:end` became `length` characters of placeholder."""

    start: int
    end: int
    length: int


class OffsetMap:
    """From positions in the redacted text back to positions in the decoded document.

    A position inside a placeholder maps to the start (`start_of`) or the end (`end_of`) of what
    it replaced, so that a span of redacted text always maps to a span that contains its source.
    """

    def __init__(self, replacements: tuple[Replacement, ...] = (), base: int = 0) -> None:
        self._replacements = replacements
        self._base = base
        self._starts: list[int] = []
        shift = 0
        for item in replacements:
            self._starts.append(item.start + shift)
            shift += item.length - (item.end - item.start)

    def start_of(self, position: int) -> int:
        """Where the character at redacted `position` begins in the document."""
        return self._base + self._map(position, at_end=False)

    def end_of(self, position: int) -> int:
        """Where the redacted text that ends at `position` ends in the document."""
        return self._base + self._map(position, at_end=True)

    def _map(self, position: int, *, at_end: bool) -> int:
        # A span's end that touches a placeholder's first character has not entered it yet.
        find = bisect.bisect_left if at_end else bisect.bisect_right
        index = find(self._starts, position) - 1
        if index < 0:
            return position
        item = self._replacements[index]
        inside = position - self._starts[index]
        if inside < item.length or (at_end and inside == item.length):
            return item.end if at_end else item.start
        return item.end + inside - item.length


@dataclass(frozen=True, slots=True)
class RedactedDocument:
    """A document without what the redactor found; its raw text is gone."""

    id: str
    text: str
    title: str
    media_type: str
    uri: str
    metadata: Mapping[str, str]
    digest: str
    offsets: OffsetMap
    redactions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Span:
    """A passage of a redacted text: `text[start:end]`, and the headings above it."""

    start: int
    end: int
    heading_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """One record of the bundle before its signals: a passage of a redacted document.

    `start` and `end` are offsets into the document as its source gave it; without redactions in
    between, `source_text[start:end] == content`.
    """

    document: RedactedDocument
    ordinal: int
    start: int
    end: int
    content: str
    heading_path: tuple[str, ...]

    @property
    def record_id(self) -> str:
        """`<document id>#chunk-<ordinal>`."""
        return f"{self.document.id}#chunk-{self.ordinal}"

    @property
    def encoder_text(self) -> str:
        """What a dense encoder reads: the passage, after the title unless it opens with that."""
        return titled(self.document.title, self.content)
