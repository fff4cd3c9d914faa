"""What a loader makes of a file that is not plain text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Loaded:
    """The text that a reader sees, as Markdown; offsets of the document count in this text."""

    text: str
    title: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)


class LoadError(ValueError):
    """A file cannot be loaded: a short `reason` to count by, and its `detail`."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail
