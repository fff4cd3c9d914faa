"""The seam of everything that cuts documents into passages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from laya_index.document import RedactedDocument, Span
from laya_index.errors import ChunkError


@runtime_checkable
class Chunker(Protocol):
    """A redacted document to spans of its text.

    Spans are non-empty, begin and end on a character that is not white space, come in order of
    their start, and together cover every character that is not white space. The same document
    always gives the same spans.
    """

    @property
    def fingerprint(self) -> str:
        """Hex digits that change whenever the same document may give other spans."""
        ...

    def chunk(self, document: RedactedDocument) -> list[Span]:
        """The spans of `document`; an empty list for a document without visible text."""
        ...


@runtime_checkable
class SizedByCorpus(Protocol):
    """A chunker that may have to see how long the documents are before it cuts the first one."""

    def sized_for(self, lengths: Iterable[int]) -> Chunker:
        """The chunker to use for a corpus of documents with so many characters each.

        Called once a run, before `fingerprint` and `chunk`; lengths in any order.
        """
        ...


def check_spans(document: RedactedDocument, spans: list[Span]) -> None:
    """Hold a chunker to its contract; raises `ChunkError` naming the document."""
    text = document.text
    covered = 0
    previous = -1
    for span in spans:
        if not 0 <= span.start < span.end <= len(text) or span.start < previous:
            raise ChunkError(
                f"{document.id}: span {span.start}:{span.end} is empty or out of order"
            )
        if text[span.start].isspace() or text[span.end - 1].isspace():
            raise ChunkError(f"{document.id}: span {span.start}:{span.end} has blank edges")
        if span.start > covered and text[covered : span.start].strip():
            raise ChunkError(f"{document.id}: text {covered}:{span.start} is in no chunk")
        covered = max(covered, span.end)
        previous = span.start
    if text[covered:].strip():
        raise ChunkError(f"{document.id}: text after {covered} is in no chunk")
