"""The lexical signal: which chunks hold which terms, how often.

A map step counts the terms of a few chunks into *postings* (one row per term); a reduce step merges
postings of neighbouring chunk ranges. Merging is associative, so the result does not depend on how
the work was cut, and it runs block by block, so memory stays bounded however large the corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from laya_signals.bm25 import inverse_document_frequency
from laya_signals.tokenize.base import Tokenizer

from laya_index.bundle.manifest import FileEntry
from laya_index.bundle.schema import POSTING_COLUMNS, TERM_COLUMNS
from laya_index.bundle.writer import BundleWriter
from laya_index.context import LedChunk
from laya_index.document import Chunk

# Rows (terms) held at once by the merge, over all of its inputs, and at least of each.
_BLOCK_ROWS = 1 << 18
_LEAST_ROWS = 256


def count_terms(chunks: Sequence[Chunk], tokenizer: Tokenizer, title_weight: int) -> pa.Table:
    """The postings of `chunks`, numbered from 0; columns as in `POSTING_COLUMNS`, sorted by term.

    A term of the document's title counts `title_weight` times in each of its chunks, and one of a
    chunk's lead once.
    """
    postings: dict[str, tuple[list[int], list[int]]] = {}
    titles: dict[str, list[str]] = {}
    for ordinal, chunk in enumerate(chunks):
        counts = Counter(tokenizer.tokenize(chunk.content))
        if isinstance(chunk, LedChunk) and chunk.lead:
            counts.update(tokenizer.tokenize(chunk.lead))
        title = chunk.document.title
        if title and title_weight:
            if title not in titles:
                titles[title] = tokenizer.tokenize(title)
            for term in titles[title]:
                counts[term] += title_weight
        for term, frequency in counts.items():
            ordinals, frequencies = postings.setdefault(term, ([], []))
            ordinals.append(ordinal)
            frequencies.append(frequency)
    terms = sorted(postings)
    return pa.table(
        [
            pa.array(terms, pa.string()),
            pa.array([postings[term][0] for term in terms], POSTING_COLUMNS.field(1).type),
            pa.array([postings[term][1] for term in terms], POSTING_COLUMNS.field(2).type),
        ],
        schema=POSTING_COLUMNS,
    )


def merge(parts: Sequence[tuple[pa.Table, int]]) -> pa.Table:
    """One table of postings from several, each with the ordinal at which its chunks begin.

    The parts come in ascending order of that base, so each merged list of ordinals ascends.
    """
    tables = [_shifted(table, base) for table, base in parts if table.num_rows]
    if not tables:
        return POSTING_COLUMNS.empty_table()
    source = np.repeat(np.arange(len(tables)), [table.num_rows for table in tables])
    joined = pa.concat_tables(tables).combine_chunks()
    order = pc.sort_indices(
        pa.table({"term": joined["term"], "source": source}),
        sort_keys=[("term", "ascending"), ("source", "ascending")],
    )
    joined = joined.take(order).combine_chunks()
    encoded = joined["term"].combine_chunks().dictionary_encode()
    firsts = np.flatnonzero(np.diff(encoded.indices.to_numpy(), prepend=-1))
    columns = [joined["term"].take(pa.array(firsts))]
    for name in ("ordinals", "frequencies"):
        lists = joined[name].combine_chunks()
        offsets = lists.offsets.to_numpy()
        bounds = np.append(offsets[firsts], offsets[-1]).astype(np.int32)
        values = lists.values.slice(bounds[0], bounds[-1] - bounds[0])
        columns.append(
            pa.ListArray.from_arrays(
                pa.array(bounds - bounds[0]), values, type=POSTING_COLUMNS.field(name).type
            )
        )
    return pa.table(columns, schema=POSTING_COLUMNS)


def _shifted(table: pa.Table, base: int) -> pa.Table:
    if base == 0:
        return table
    lists = table["ordinals"].combine_chunks()
    flat = pc.add(lists.flatten(), pa.scalar(base, pa.uint32()))
    offsets = pa.array(lists.offsets.to_numpy() - lists.offsets[0].as_py(), pa.int32())
    moved = pa.ListArray.from_arrays(offsets, flat, type=POSTING_COLUMNS.field("ordinals").type)
    return table.set_column(1, POSTING_COLUMNS.field("ordinals"), moved)


@dataclass(frozen=True, slots=True)
class LexicalFiles:
    """The two files of the lexical signal and the totals that scoring needs."""

    terms: FileEntry
    postings: FileEntry
    average_length: float


def write_lexical(
    writer: BundleWriter, parts: Sequence[tuple[Path, int]], chunks: int, *, inputs: str
) -> LexicalFiles:
    """Merge postings files, given as (path, first ordinal), into the bundle's lexical files."""
    postings = writer.stream("bm25-postings", POSTING_COLUMNS)
    terms = writer.stream("bm25-terms", TERM_COLUMNS)
    occurrences = 0
    for block in _blocks(parts):
        frequency = block["frequencies"].combine_chunks()
        offsets = frequency.offsets.to_numpy().astype(np.int64)
        totals = np.concatenate([[0], np.cumsum(frequency.values.to_numpy(), dtype=np.int64)])
        df = np.diff(offsets)
        cf = totals[offsets[1:]] - totals[offsets[:-1]]
        occurrences += int(cf.sum())
        idf = inverse_document_frequency(df, chunks)
        postings.write(block)
        terms.write(pa.table([block["term"], df, cf, idf], schema=TERM_COLUMNS))
    average = occurrences / chunks if chunks else 0.0
    return LexicalFiles(terms.close(inputs=inputs), postings.close(inputs=inputs), average)


def _blocks(parts: Sequence[tuple[Path, int]]) -> Iterator[pa.Table]:
    """The merged postings in term order, as many blocks as bounded memory takes."""
    rows = max(_LEAST_ROWS, _BLOCK_ROWS // max(1, len(parts)))
    readers = [
        (
            pq.ParquetFile(path, page_checksum_verification=True).iter_batches(batch_size=rows),
            base,
        )
        for path, base in parts
    ]
    buffers: list[pa.Table | None] = [_next(batches) for batches, _ in readers]
    while any(buffer is not None for buffer in buffers):
        # Every term up to the least "last term in memory" is complete in memory.
        bound = min(buffer["term"][-1].as_py() for buffer in buffers if buffer is not None)
        ready: list[tuple[pa.Table, int]] = []
        for index, buffer in enumerate(buffers):
            if buffer is None:
                continue
            batches, base = readers[index]
            split = pc.sum(pc.less_equal(buffer["term"], bound)).as_py() or 0
            ready.append((buffer.slice(0, split).combine_chunks(), base))
            rest = buffer.slice(split)
            buffers[index] = rest if rest.num_rows else _next(batches)
        yield merge(ready)


def _next(batches: Iterator[pa.RecordBatch]) -> pa.Table | None:
    for batch in batches:
        if batch.num_rows:
            return pa.Table.from_batches([batch.cast(POSTING_COLUMNS)])
    return None
