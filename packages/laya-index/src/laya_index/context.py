"""What is indexed along with a passage without being part of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from laya_signals import Component, ComponentConfig
from laya_signals.passage import titled

from laya_index.document import Chunk


@runtime_checkable
class Context(Protocol):
    """A passage's place to a line of text that leads it in every signal."""

    @property
    def fingerprint(self) -> str:
        """Hex digits that change whenever the same place may give another line."""
        ...

    def lead(self, document_id: str, heading_path: Sequence[str]) -> str:
        """The line; "" for none. Both arguments are redacted text."""
        ...


@dataclass(frozen=True, slots=True)
class LedChunk(Chunk):
    """A chunk whose signals also read `lead`; `content` and offsets stay as they are."""

    lead: str

    @classmethod
    def of(cls, chunk: Chunk, lead: str) -> LedChunk:
        """`chunk` with a lead."""
        return cls(
            document=chunk.document,
            ordinal=chunk.ordinal,
            start=chunk.start,
            end=chunk.end,
            content=chunk.content,
            heading_path=chunk.heading_path,
            lead=lead,
        )

    @property
    def encoder_text(self) -> str:
        """What an encoder reads: the lead, then what it reads without one."""
        return led_text(self.lead, self.document.title, self.content)


def led_text(lead: str, title: str, content: str) -> str:
    """See `LedChunk.encoder_text`."""
    text = titled(title, content)
    return f"{lead}\n{text}" if lead else text


class BreadcrumbConfig(ComponentConfig):
    """Settings of `Breadcrumb`."""

    #: Whether the document's id (a file's path) comes first.
    file: bool = True
    #: Whether the headings above the passage follow.
    headings: bool = True
    separator: str = " > "


class Breadcrumb(Component[BreadcrumbConfig]):
    """The way to a passage: its file, then the headings above it.

    >>> Breadcrumb().lead("docs/bundle.md", ["The bundle", "The cache"])
    'docs/bundle.md > The bundle > The cache'
    """

    Config = BreadcrumbConfig

    def lead(self, document_id: str, heading_path: Sequence[str]) -> str:
        """File and headings in one line; "" where there is neither."""
        steps = [document_id] if self.config.file else []
        if self.config.headings:
            steps += heading_path
        return self.config.separator.join(steps)
