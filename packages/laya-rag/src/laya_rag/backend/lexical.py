"""BM25 and BM25F over a bundle's postings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from laya_index.bundle.manifest import Bm25Entry
from laya_signals.bm25 import FieldFrequencies, field_saturation, inverse_document_frequency
from numpy.typing import DTypeLike, NDArray

from laya_rag.backend.arrays import ArrayFolder, ArrayStream, ArrayWriter
from laya_rag.backend.scope import Scope
from laya_rag.backend.strings import Strings, StringsWriter


@dataclass(frozen=True, slots=True)
class Weighting:
    """How often a term counts: `k1`, and by field its weight and its `b`, see `field_saturation`.

    Plain BM25 has a single field without a name, of weight 1: the same numbers to the bit.
    """

    k1: float
    fields: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, entry: Bm25Entry) -> Weighting:
        """That of a bundle."""
        if entry.fields is None:
            return cls(entry.k1, {"": (1.0, entry.b)})
        fields = {name: (field.weight, field.b) for name, field in entry.fields.items()}
        return cls(entry.k1, fields)

    def saturations(
        self,
        frequencies: Mapping[str, NDArray[np.integer]],
        lengths: Mapping[str, NDArray[np.integer]],
        scope: Scope,
    ) -> NDArray[np.float32]:
        """What the postings with these frequencies count, before the term's own weight.

        Both mappings hold an array per field, `(n,)`; a length is that of the posting's chunk.
        Rounded here, so that every way to a score leads to the same bits.
        """
        fields = [
            FieldFrequencies(
                frequencies[name], lengths[name], scope.average_length(name), weight, b
            )
            for name, (weight, b) in self.fields.items()
        ]
        return field_saturation(fields, k1=self.k1).astype(np.float32)


class LexicalIndex:
    """Adds up the postings of a query's terms.

    How far each posting's frequency counts is computed when the arrays are made. The weight of a
    term, its inverse document frequency, is left to the query: it depends on who asks. A scope that
    does not permit every chunk gets the statistics of those that it does, so that its scores are
    the ones that a bundle of the permitted chunks alone would give.
    """

    def __init__(self, arrays: ArrayFolder, weighting: Weighting) -> None:
        self._weighting = weighting
        self._terms = Strings(arrays, "terms")
        self._offsets: NDArray[np.int64] = arrays["postings.offsets"]
        self._ordinals: NDArray[np.uint32] = arrays["postings.ordinals"]
        self._saturations: NDArray[np.float32] = arrays["postings.saturations"]
        self._frequencies = {name: arrays[_frequencies(name)] for name in weighting.fields}
        #: By field, the terms of each chunk, `(n,)`.
        self.lengths: Mapping[str, NDArray[np.uint32]] = {
            name: arrays[_lengths(name)] for name in weighting.fields
        }

    def scores(self, terms: Iterable[str], scope: Scope) -> NDArray[np.float64]:
        """The score of every chunk, `(n,)` float64.

        It is 0 where no term occurs, and where the scope does not permit the chunk. A term that the
        query repeats counts as often as it stands there.
        """
        total = np.zeros(scope.total)
        for term, times in sorted(Counter(terms).items()):
            row = self._terms.find(term)
            if row is None:
                continue
            ordinals, saturations = self._postings(row, scope)
            if len(ordinals):
                idf = inverse_document_frequency(len(ordinals), scope.count)
                total[ordinals] += np.float64(times * idf) * saturations
        return total

    def _postings(self, row: int, scope: Scope) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        span = slice(int(self._offsets[row]), int(self._offsets[row + 1]))
        ordinals = self._ordinals[span]
        if scope.mask is None:
            return ordinals, self._saturations[span]
        permitted = scope.mask[ordinals]
        ordinals = ordinals[permitted]
        return ordinals, self._weighting.saturations(
            {name: values[span][permitted] for name, values in self._frequencies.items()},
            {name: values[ordinals] for name, values in self.lengths.items()},
            scope,
        )


def write_lexical(
    writer: ArrayWriter,
    batches: Callable[..., Iterator[pa.RecordBatch]],
    chunks: int,
    weighting: Weighting,
) -> None:
    """Write the arrays of a `LexicalIndex` over `chunks` chunks.

    `batches(*columns)` gives rows of the bundle's postings, and is read twice: what a posting
    counts depends on the length of its chunk, which takes all postings to know.
    """
    columns = {name: f"{name}_frequencies" if name else "frequencies" for name in weighting.fields}
    read = partial(batches, "term", "ordinals", *columns.values())
    lengths = {name: np.zeros(chunks, np.int64) for name in columns}
    highest = dict.fromkeys(columns, 0)
    for batch in read():
        ordinals = _values(batch, "ordinals")
        for name, column in columns.items():
            found = _values(batch, column)
            counted = np.bincount(ordinals, weights=found, minlength=chunks)
            lengths[name] += counted.astype(np.int64)
            highest[name] = max(highest[name], int(found.max(initial=0)))
    for name, length in lengths.items():
        writer.put(_lengths(name), length.astype(np.uint32))
    scope = Scope.of(np.ones(chunks, dtype=bool), lengths)
    end = 0
    with ExitStack() as stack:
        terms = stack.enter_context(closing(StringsWriter(writer, "terms")))

        def stream(name: str, dtype: DTypeLike) -> ArrayStream:
            return stack.enter_context(writer.stream(name, dtype))

        offsets = stream("postings.offsets", np.int64)
        postings = stream("postings.ordinals", np.uint32)
        saturations = stream("postings.saturations", np.float32)
        frequencies = {
            name: stream(_frequencies(name), np.min_scalar_type(highest[name])) for name in columns
        }
        offsets.append(np.zeros(1, np.int64))
        for batch in read():
            ordinals = _values(batch, "ordinals")
            by_field = {name: _values(batch, column) for name, column in columns.items()}
            terms.append(batch.column("term").to_pylist())
            counts = batch.column("ordinals").value_lengths().to_numpy()
            ends = end + np.cumsum(counts, dtype=np.int64)
            offsets.append(ends)
            end = int(ends[-1]) if len(ends) else end
            postings.append(ordinals)
            for name, values in by_field.items():
                frequencies[name].append(values)
            own = {name: length[ordinals] for name, length in lengths.items()}
            saturations.append(weighting.saturations(by_field, own, scope))


def _lengths(field: str) -> str:
    return f"lengths.{field}"


def _frequencies(field: str) -> str:
    return f"postings.frequencies.{field}"


def _values(batch: pa.RecordBatch, column: str) -> NDArray[np.uint32]:
    values: NDArray[np.uint32] = batch.column(column).flatten().to_numpy()
    return values
