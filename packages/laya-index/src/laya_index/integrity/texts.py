"""The texts of a bundle's documents, put together from their passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from laya_index.bundle.reader import BundleReader

_COLUMNS = ("document_id", "start", "end", "content")

#: Where a passage begins and ends in its document, and what it says.
Passage = tuple[int, int, str]


def document_texts(reader: BundleReader) -> Iterator[tuple[str, str]]:
    """Id and redacted text of every document that has one, in the bundle's order.

    White space is folded: what runs of it were is not in the passages.
    """
    rows = (
        row
        for batch in reader.batches("chunks", _COLUMNS)
        for row in zip(*(batch.column(name).to_pylist() for name in _COLUMNS), strict=True)
    )
    for name, group in groupby(rows, key=lambda row: row[0]):
        yield name, folded(joined([row[1:] for row in group]))


def folded(text: str) -> str:
    """`text` with one space for every run of white space."""
    return " ".join(text.split())


def joined(passages: Sequence[Passage]) -> str:
    """The text that passages were cut from; what neighbours share is there once.

    Between passages that do not touch there was nothing but white space.
    """
    parts: list[str] = []
    before, reached = "", 0
    for start, end, content in passages:
        if not parts:
            parts.append(content)
        elif start >= reached:
            parts += ["\n", content]
        elif end > reached:
            parts.append(content[_shared(before, content, reached - start) :])
        else:
            continue  # all of it is in the passage before
        before, reached = content, end
    return "".join(parts)


def _shared(before: str, content: str, length: int) -> int:
    """How many characters of `content` the passage before ends with, about `length`."""
    if before.endswith(content[:length]):
        return length
    # Offsets count what stood where placeholders are now.
    longest = min(len(before), len(content))
    return next((n for n in range(longest, 0, -1) if before.endswith(content[:n])), 0)
