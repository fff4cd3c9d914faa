"""One chunk per document."""

from __future__ import annotations

from laya_signals import Component, ComponentConfig

from laya_index.document import RedactedDocument, Span


class DocumentChunkerConfig(ComponentConfig):
    """`chunker.document` has no settings."""


class DocumentChunker(Component[DocumentChunkerConfig]):
    """The whole text without its blank edges, however long: for corpora of short documents.

    An encoder cuts what it cannot hold, so the end of a long document has no say in its vector.
    """

    Config = DocumentChunkerConfig

    def chunk(self, document: RedactedDocument) -> list[Span]:
        """One span, or none for a document without visible text; it has no heading path."""
        end = len(document.text.rstrip())
        start = len(document.text) - len(document.text.lstrip())
        return [Span(start, end)] if end else []
