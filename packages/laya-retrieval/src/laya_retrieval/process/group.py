"""One entry per document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from laya_retrieval.candidate import Candidate
from laya_retrieval.process.overlap import join_spans


@dataclass(frozen=True, slots=True)
class DocumentGroup:
    """What was found of one document."""

    document_id: str
    #: The score of its best passage.
    score: float
    #: Its passages joined in reading order, text that two of them share kept once.
    text: str
    #: Its passages in reading order (incoming order where they have no offsets).
    candidates: tuple[Candidate, ...]


def document_of(candidate: Candidate) -> str:
    """The document a candidate belongs to: `metadata["document_id"]`, else its id up to a `#`."""
    named = candidate.metadata.get("document_id")
    if isinstance(named, str) and named:
        return named
    return candidate.id.partition("#")[0] or candidate.id


def group_by_document(
    candidates: Sequence[Candidate], *, separator: str = "\n\n"
) -> list[DocumentGroup]:
    """One entry per document, at the place of its best (first) passage.

    Passages that overlap or touch by their offsets (`metadata["start"]` and `["end"]`) are joined
    without repeating the shared text; between others stands `separator`, also where offsets do not
    fit the text. Passages without offsets follow in their incoming order. Raises `PackError` for
    offsets that are impossible.
    """
    members: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        group = members.setdefault(document_of(candidate), [])
        if all(candidate.id != other.id for other in group):
            group.append(candidate)
    return [_group(document, group, separator) for document, group in members.items()]


def _group(document: str, members: Sequence[Candidate], separator: str) -> DocumentGroup:
    named = [candidate.with_metadata(document_id=document) for candidate in members]
    pieces = sorted(join_spans(named), key=_reading_order(named))
    order = _reading_order(members)
    return DocumentGroup(
        document_id=document,
        score=members[0].score,
        text=separator.join(piece.text for piece in pieces if piece.text),
        candidates=tuple(sorted(members, key=order)),
    )


def _reading_order(members: Sequence[Candidate]) -> Callable[[Candidate], tuple[int, int, int]]:
    places = {candidate.id: place for place, candidate in enumerate(members)}

    def key(candidate: Candidate) -> tuple[int, int, int]:
        start, end = candidate.metadata.get("start"), candidate.metadata.get("end")
        if start is None or end is None:
            return 1, 0, places[candidate.id]
        return 0, int(start), places[candidate.id]

    return key
