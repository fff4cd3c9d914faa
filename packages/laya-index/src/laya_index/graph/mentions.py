"""The map step: which entities each chunk mentions, how often.

A shard's mentions are a table of their own, kept in the cache like its postings, so that a later
run can put the graph together again without the documents of shards that did not change.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from laya_index.document import Chunk, RedactedDocument
from laya_index.errors import BundleError, SignalStageError
from laya_index.graph.entity import LINK, NAME, EntityExtractor, Mention, canonical_key
from laya_index.graph.link import canonical_link

#: `row` is the chunk's row among those of the table, `expansion` the key of the long form that
#: the document gives for an acronym right there.
MENTION_COLUMNS = pa.schema(
    [
        pa.field("row", pa.uint32(), nullable=False),
        pa.field("type", pa.string(), nullable=False),
        pa.field("key", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("expansion", pa.string()),
        pa.field("confidence", pa.float64(), nullable=False),
        pa.field("count", pa.uint32(), nullable=False),
    ]
)

# Type, key, name, expansion, confidence: what a row of the table holds beside row and count.
_Facts = tuple[str, str, str, str | None, float]


def count_mentions(
    documents: Iterable[tuple[RedactedDocument, str, Sequence[Chunk]]], extractor: EntityExtractor
) -> pa.Table:
    """The mentions in the chunks of `documents`, columns as in `MENTION_COLUMNS`.

    Each document comes with its redacted name, which relative links are resolved against, and with
    its chunks. A mention counts in every chunk that holds all of it. One that touches a placeholder
    of the redactor is dropped, whatever extractor found it.

    Raises `SignalStageError` naming the document when the extractor breaks its promise.
    """
    counts: Counter[tuple[int, _Facts]] = Counter()
    base = 0
    for document, name, chunks in documents:
        found = _placed(document, name, extractor)
        starts = [start for start, _, _ in found]
        for row, chunk in enumerate(chunks, start=base):
            first = bisect.bisect_left(starts, chunk.start)
            last = bisect.bisect_left(starts, chunk.end)
            for _, end, facts in found[first:last]:
                if end <= chunk.end:
                    counts[row, facts] += 1
        base += len(chunks)
    rows = sorted(
        ((row, *facts, count) for (row, facts), count in counts.items()),
        # There is no order between a text and None.
        key=lambda item: (*item[:4], item[4] or "", *item[5:]),
    )
    columns = [list(column) for column in zip(*rows, strict=True)]
    return pa.table(columns or [[] for _ in MENTION_COLUMNS], schema=MENTION_COLUMNS)


def _placed(
    document: RedactedDocument, name: str, extractor: EntityExtractor
) -> list[tuple[int, int, _Facts]]:
    """Start and end of each mention in the source document, and what goes into the table."""
    hidden = _placeholders(document)
    ends = [end for _, end in hidden]
    found: list[tuple[int, int, _Facts]] = []
    for mention in extractor.find(document.text):
        _check(document, mention)
        # The first placeholder that ends behind the mention's start.
        index = bisect.bisect_right(ends, mention.start)
        if index < len(hidden) and hidden[index][0] < mention.end:
            continue
        said = " ".join(mention.name.split())
        if mention.type == LINK:
            said = canonical_link(mention.name, name) or "["
            if "[" in said:
                continue  # leads nowhere, or below a folder whose name was redacted
        key = canonical_key(mention.type, said)
        expansion = None
        if mention.expansion is not None:
            expansion = canonical_key(NAME, mention.expansion)
        facts = (mention.type, key, said, expansion, float(mention.confidence))
        start = document.offsets.start_of(mention.start)
        found.append((start, document.offsets.end_of(mention.end), facts))
    return sorted(found, key=lambda item: item[:2])


def _placeholders(document: RedactedDocument) -> list[tuple[int, int]]:
    spans = []
    for kind in document.redactions:
        placeholder = f"[{kind}]"
        start = document.text.find(placeholder)
        while start >= 0:
            spans.append((start, start + len(placeholder)))
            start = document.text.find(placeholder, start + 1)
    return sorted(spans)


def _check(document: RedactedDocument, mention: Mention) -> None:
    if not 0 <= mention.start < mention.end <= len(document.text):
        raise SignalStageError(
            f"graph: {document.id}: a mention at {mention.start}:{mention.end} is outside the text"
        )
    if not mention.name.strip() or not mention.type:
        raise SignalStageError(
            f"graph: {document.id}: the mention at {mention.start}:{mention.end} has no name or "
            "no type"
        )
    if not 0 < mention.confidence <= 1:
        raise SignalStageError(
            f"graph: {document.id}: {mention.name!r} has confidence {mention.confidence}, "
            "not one in (0, 1]"
        )


def join_mentions(parts: Sequence[tuple[pa.Table, int]]) -> pa.Table:
    """One table of mentions from several, each with the row at which its chunks begin."""
    tables = [
        table.set_column(
            0, MENTION_COLUMNS.field(0), pc.add(table["row"], pa.scalar(base, pa.uint32()))
        )
        for table, base in parts
    ]
    joined: pa.Table = pa.concat_tables([MENTION_COLUMNS.empty_table(), *tables])
    return joined.combine_chunks()


def read_mentions(path: Path, columns: list[str] | None = None) -> pa.Table:
    """A shard's mentions from the cache; raises `BundleError` for a file that cannot be read."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            return file.read(columns=columns)
    except (pa.ArrowException, OSError) as error:
        raise BundleError(
            f"cannot use the cache {str(path)!r}: {error}; delete it and run `laya process`"
        ) from error
