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
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from laya_signals.bm25 import inverse_document_frequency
from laya_signals.tokenize.base import Tokenizer

from laya_index.bundle.manifest import FileEntry
from laya_index.bundle.schema import POSTING_COLUMNS, TERM_COLUMNS, posting_columns
from laya_index.bundle.writer import BundleWriter
from laya_index.context import LedChunk
from laya_index.document import Chunk

# Rows (terms) held at once by the merge, over all of its inputs, and at least of each.
_BLOCK_ROWS = 1 << 18
_LEAST_ROWS = 256

#: By term: the chunks that have it, how often each does, and how often in each field of BM25F.
Postings: TypeAlias = dict[str, tuple[list[int], ...]]


def count_terms(chunks: Sequence[Chunk], tokenizer: Tokenizer, title_weight: int) -> pa.Table:
    """The postings of `chunks`, numbered from 0; columns as in `POSTING_COLUMNS`, sorted by term.

    A term of the document's title counts `title_weight` times in each of its chunks, and one of a
    chunk's lead once.
    """
    postings: Postings = {}
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
    return _table(postings, POSTING_COLUMNS)


def count_fields(chunks: Sequence[Chunk], tokenizer: Tokenizer, fields: Sequence[str]) -> pa.Table:
    """The postings of `chunks` for BM25F; columns as in `posting_columns(fields)`.

    `fields` are some of `title`, `headings` (of the chunk's heading path) and `content` (which a
    chunk's lead counts to). `frequencies` is the sum of what the fields say.
    """
    schema = posting_columns(fields)
    postings: Postings = {}
    known: dict[str, Counter[str]] = {}

    def counted(text: str) -> Counter[str]:
        """Of a title or a heading, which many chunks share."""
        if text not in known:
            known[text] = Counter(tokenizer.tokenize(text))
        return known[text]

    for ordinal, chunk in enumerate(chunks):
        counts = []
        for field in fields:
            found: Counter[str] = Counter()
            if field == "content":
                found.update(tokenizer.tokenize(chunk.content))
                if isinstance(chunk, LedChunk) and chunk.lead:
                    found.update(tokenizer.tokenize(chunk.lead))
            else:
                texts = chunk.heading_path if field == "headings" else (chunk.document.title,)
                for text in texts:
                    found.update(counted(text))
            counts.append(found)
        for term in set().union(*counts):
            columns = postings.setdefault(term, tuple([] for _ in range(2 + len(fields))))
            columns[0].append(ordinal)
            columns[1].append(sum(found[term] for found in counts))
            for column, found in zip(columns[2:], counts, strict=True):
                column.append(found[term])
    return _table(postings, schema)


def _table(postings: Postings, schema: pa.Schema) -> pa.Table:
    terms = sorted(postings)
    lists = [
        pa.array([postings[term][place] for term in terms], field.type)
        for place, field in enumerate(list(schema)[1:])
    ]
    return pa.table([pa.array(terms, pa.string()), *lists], schema=schema)


def merge(parts: Sequence[tuple[pa.Table, int]]) -> pa.Table:
    """One table of postings from several, each with the ordinal at which its chunks begin.

    The parts come in ascending order of that base, so each merged list of ordinals ascends. They
    have the same columns, which are those of the result.
    """
    schema = parts[0][0].schema if parts else POSTING_COLUMNS
    tables = [_shifted(table, base) for table, base in parts if table.num_rows]
    if not tables:
        return schema.empty_table()
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
    for name in schema.names[1:]:
        lists = joined[name].combine_chunks()
        offsets = lists.offsets.to_numpy()
        bounds = np.append(offsets[firsts], offsets[-1]).astype(np.int32)
        values = lists.values.slice(bounds[0], bounds[-1] - bounds[0])
        columns.append(
            pa.ListArray.from_arrays(
                pa.array(bounds - bounds[0]), values, type=schema.field(name).type
            )
        )
    return pa.table(columns, schema=schema)


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
    """The two files of the lexical signal and the totals that scoring needs.

    `average_length` is of the chunks in terms, `field_lengths` of each of BM25F's fields.
    """

    terms: FileEntry
    postings: FileEntry
    average_length: float
    field_lengths: dict[str, float]


def write_lexical(
    writer: BundleWriter,
    parts: Sequence[tuple[Path, int]],
    chunks: int,
    *,
    inputs: str,
    fields: Sequence[str] = (),
) -> LexicalFiles:
    """Merge postings files, given as (path, first ordinal), into the bundle's lexical files.

    `fields` are those of BM25F that the files tell apart.
    """
    schema = posting_columns(fields)
    postings = writer.stream("bm25-postings", schema)
    terms = writer.stream("bm25-terms", TERM_COLUMNS)
    occurrences = 0
    by_field = dict.fromkeys(fields, 0)
    for block in _blocks(parts, schema):
        frequency = block["frequencies"].combine_chunks()
        offsets = frequency.offsets.to_numpy().astype(np.int64)
        totals = np.concatenate([[0], np.cumsum(frequency.values.to_numpy(), dtype=np.int64)])
        df = np.diff(offsets)
        cf = totals[offsets[1:]] - totals[offsets[:-1]]
        occurrences += int(cf.sum())
        for name in fields:
            by_field[name] += pc.sum(block[f"{name}_frequencies"].combine_chunks().values).as_py()
        idf = inverse_document_frequency(df, chunks)
        postings.write(block)
        terms.write(pa.table([block["term"], df, cf, idf], schema=TERM_COLUMNS))
    average = occurrences / chunks if chunks else 0.0
    lengths = {name: total / chunks if chunks else 0.0 for name, total in by_field.items()}
    return LexicalFiles(terms.close(inputs=inputs), postings.close(inputs=inputs), average, lengths)


def _blocks(parts: Sequence[tuple[Path, int]], schema: pa.Schema) -> Iterator[pa.Table]:
    """The merged postings in term order, as many blocks as bounded memory takes."""
    rows = max(_LEAST_ROWS, _BLOCK_ROWS // max(1, len(parts)))
    readers = [
        (
            pq.ParquetFile(path, page_checksum_verification=True).iter_batches(batch_size=rows),
            base,
        )
        for path, base in parts
    ]
    buffers: list[pa.Table | None] = [None] * len(readers)
    while True:
        # All are filled up each time, so that each step gets on by about `rows` of every part.
        buffers = [
            _filled(buffer, batches, schema, rows)
            for buffer, (batches, _) in zip(buffers, readers, strict=True)
        ]
        if all(buffer is None for buffer in buffers):
            return
        # Every term up to the least "last term in memory" is complete in memory.
        bound = min(buffer["term"][-1].as_py() for buffer in buffers if buffer is not None)
        ready: list[tuple[pa.Table, int]] = []
        for index, buffer in enumerate(buffers):
            if buffer is None:
                continue
            split = pc.sum(pc.less_equal(buffer["term"], bound)).as_py() or 0
            ready.append((buffer.slice(0, split).combine_chunks(), readers[index][1]))
            buffers[index] = buffer.slice(split)
        yield merge(ready)


def _filled(
    buffer: pa.Table | None, batches: Iterator[pa.RecordBatch], schema: pa.Schema, rows: int
) -> pa.Table | None:
    """`buffer` with further batches until it has `rows` rows; None when there is nothing left."""
    tables = [] if buffer is None else [buffer]
    while sum(table.num_rows for table in tables) < rows:
        batch = next(batches, None)
        if batch is None:
            break
        tables.append(pa.Table.from_batches([batch.cast(schema)]))
    found = pa.concat_tables(tables) if tables else None
    return found if found is not None and found.num_rows else None
