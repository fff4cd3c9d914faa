"""Which candidates are spans of one document that overlap, and how to join them without repeats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from laya_retrieval.candidate import Candidate, ranked
from laya_retrieval.errors import PackError

__all__ = ["SourceSpan", "join_spans", "joinable", "shared_characters", "source_span"]


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """Where a candidate's text stands in its document: characters `start` to `end`, half-open."""

    document_id: str
    start: int
    end: int


def source_span(candidate: Candidate) -> SourceSpan | None:
    """The span that `metadata` names by `document_id`, `start` and `end`; None without all three.

    Raises `PackError`, naming the candidate, when they are there and impossible.
    """
    document_id, start, end = (
        candidate.metadata.get(key) for key in ("document_id", "start", "end")
    )
    if document_id is None or start is None or end is None:
        return None
    whole = all(
        isinstance(place, int | np.integer) and not isinstance(place, bool)
        for place in (start, end)
    )
    if not whole or not 0 <= start <= end:
        raise PackError(
            f"candidate {candidate.id!r}: start {start!r} and end {end!r} are no span; "
            "expected integers with 0 <= start <= end"
        )
    return SourceSpan(str(document_id), int(start), int(end))


def shared_characters(spans: Sequence[SourceSpan | None]) -> npt.NDArray[np.int64]:
    """(n, n) int64: how many characters of one document two spans share; a zero diagonal."""
    starts = np.array([span.start if span else 0 for span in spans], dtype=np.int64)
    ends = np.array([span.end if span else 0 for span in spans], dtype=np.int64)
    names: dict[str, int] = {}
    documents = np.array(
        [names.setdefault(span.document_id, len(names)) if span else -1 for span in spans],
        dtype=np.int64,
    )
    shared: npt.NDArray[np.int64] = np.minimum(ends[:, None], ends) - np.maximum(
        starts[:, None], starts
    )
    shared[(documents[:, None] != documents) | (documents < 0) | (shared < 0)] = 0
    np.fill_diagonal(shared, 0)
    return shared


def joinable(left: Candidate, right: Candidate) -> bool:
    """Whether two spans of one document touch or overlap and agree on what they share.

    A text that is not as long as its offsets say (a header was put before it, say) is never
    joined: the result could not be verbatim.
    """
    one, other = source_span(left), source_span(right)
    if one is None or other is None or one.document_id != other.document_id:
        return False
    if len(left.text) != one.end - one.start or len(right.text) != other.end - other.start:
        return False
    start, end = max(one.start, other.start), min(one.end, other.end)
    if start > end:
        return False
    return (
        left.text[start - one.start : end - one.start]
        == right.text[start - other.start : end - other.start]
    )


def join_spans(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Candidates with adjacent or overlapping spans of one document joined, verbatim.

    A joined candidate has the id, score and metadata of its best member, the text of all of them
    with nothing repeated, the `start` and `end` that it now covers, and the members' ids in text
    order as `metadata["merged_ids"]`. Others come back as they are. Output by descending score,
    ties by id.
    """
    output: list[Candidate] = []
    placed: list[tuple[SourceSpan, Candidate]] = []
    for candidate in candidates:
        span = source_span(candidate)
        if span is None:
            output.append(candidate)
        else:
            placed.append((span, candidate))
    placed.sort(key=lambda item: (item[0].document_id, item[0].start, item[0].end, item[1].id))
    run: list[tuple[SourceSpan, Candidate]] = []
    for span, candidate in placed:
        # The member that ends last also covers whatever the others share with the next span.
        if run and joinable(max(run, key=lambda item: item[0].end)[1], candidate):
            run.append((span, candidate))
        else:
            output.extend(_joined(run))
            run = [(span, candidate)]
    output.extend(_joined(run))
    return ranked(output)


def _joined(run: Sequence[tuple[SourceSpan, Candidate]]) -> list[Candidate]:
    """The run as one candidate; members ascend by start."""
    if len(run) < 2:
        return [candidate for _, candidate in run]
    text, end = run[0][1].text, run[0][0].end
    for span, candidate in run[1:]:
        if span.end > end:
            text += candidate.text[end - span.start :]
            end = span.end
    merged = ranked(candidate for _, candidate in run)[0].with_metadata(
        start=run[0][0].start, end=end, merged_ids=tuple(candidate.id for _, candidate in run)
    )
    return [replace(merged, text=text)]
