"""The seam of everything that finds what must not reach any artifact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from laya_index.document import OffsetMap, RedactedDocument, Replacement, SourceDocument


@dataclass(frozen=True, slots=True)
class Finding:
    """`text[start:end]` is of this kind (`EMAIL`, `IBAN`, …) and must be replaced."""

    start: int
    end: int
    kind: str


@runtime_checkable
class Redactor(Protocol):
    """A text to the findings in it, in any order; they may overlap."""

    @property
    def fingerprint(self) -> str:
        """Hex digits that change whenever the same text may give other findings."""
        ...

    def find(self, text: str) -> Sequence[Finding]:
        """What to replace in `text`."""
        ...


def redact(document: SourceDocument, redactor: Redactor | None) -> RedactedDocument:
    """Replace every finding in text, title and metadata by its `[KIND]`; the raw text is dropped.

    The document's id and uri stay as they are: they are identities that queries and deletions
    refer to. Without a redactor nothing is replaced.
    """
    counts: dict[str, int] = {}
    text, offsets = _replace(document.text, redactor, counts, document.offset)
    title, _ = _replace(document.title, redactor, counts)
    metadata = {
        _replace(key, redactor, counts)[0]: _replace(value, redactor, counts)[0]
        for key, value in document.metadata.items()
    }
    return RedactedDocument(
        id=document.id,
        text=text,
        title=title,
        media_type=document.media_type,
        uri=document.uri,
        metadata=metadata,
        digest=document.digest,
        offsets=offsets,
        redactions=dict(sorted(counts.items())),
    )


def _replace(
    text: str, redactor: Redactor | None, counts: dict[str, int], base: int = 0
) -> tuple[str, OffsetMap]:
    if redactor is None:
        return text, OffsetMap((), base)
    pieces: list[str] = []
    replacements: list[Replacement] = []
    done = 0
    for finding in _merged(redactor.find(text)):
        placeholder = f"[{finding.kind}]"
        pieces += [text[done : finding.start], placeholder]
        replacements.append(Replacement(finding.start, finding.end, len(placeholder)))
        counts[finding.kind] = counts.get(finding.kind, 0) + 1
        done = finding.end
    if not replacements:
        return text, OffsetMap((), base)
    pieces.append(text[done:])
    return "".join(pieces), OffsetMap(tuple(replacements), base)


def _merged(findings: Sequence[Finding]) -> list[Finding]:
    """Overlapping findings as one, of the kind that begins first (of these, the longest)."""
    merged: list[Finding] = []
    for finding in sorted(findings, key=lambda item: (item.start, -item.end, item.kind)):
        if merged and finding.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Finding(last.start, max(last.end, finding.end), last.kind)
        else:
            merged.append(finding)
    return merged
