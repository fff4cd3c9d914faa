"""The seam of everything that finds what must not reach any artifact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from laya_index.document import (
    OffsetMap,
    RedactedDocument,
    Replacement,
    Skipped,
    SourceDocument,
)


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
    refer to (`laya integrity` tells which of them hold personal data). A value of the metadata is
    looked at along with its key. Without a redactor nothing is replaced.
    """
    counts: dict[str, int] = {}
    text, offsets = _replace(
        document.text, _found(redactor, document.text), counts, document.offset
    )
    title, _ = _replace(document.title, _found(redactor, document.title), counts)
    metadata: dict[str, str] = {}
    for key, value in sorted(document.metadata.items()):
        name, _ = _replace(key, _found(redactor, key), counts)
        shown, _ = _replace(value, _found_in_field(redactor, key, value), counts)
        # Two keys may become one placeholder; neither value is lost.
        metadata[name] = f"{metadata[name]}, {shown}" if name in metadata else shown
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


def redact_skip(skip: Skipped, redactor: Redactor | None) -> Skipped:
    """The same skip, without what the redactor finds in a loader's own words about the file."""
    detail, _ = _replace(skip.detail, _found(redactor, skip.detail), {})
    return replace(skip, detail=detail)


def _found(redactor: Redactor | None, text: str) -> Sequence[Finding]:
    return () if redactor is None else redactor.find(text)


def _found_in_field(redactor: Redactor | None, key: str, value: str) -> Sequence[Finding]:
    """What is found in `value` where its key stands before it: `password: …`, `ssn: …`."""
    lead = len(f"{key}: ")
    return [
        Finding(max(0, finding.start - lead), finding.end - lead, finding.kind)
        for finding in _found(redactor, f"{key}: {value}")
        if finding.end > lead
    ]


def _replace(
    text: str, findings: Sequence[Finding], counts: dict[str, int], base: int = 0
) -> tuple[str, OffsetMap]:
    pieces: list[str] = []
    replacements: list[Replacement] = []
    done = 0
    for finding in _merged(findings):
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
