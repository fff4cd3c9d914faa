"""How the demo ranks: two legs, reciprocal rank fusion, and all that went into every number.

Ten candidates of each leg, the sum over the legs of `1 / (60 + rank)`, ties by id, the top five, no
reranker. A query without a saved vector has the BM25 leg alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from laya_retrieval.candidate import Candidate
from laya_retrieval.fuse.base import FUSION_KEY, LegContribution
from laya_retrieval.fuse.rrf import RrfFuser
from laya_signals.bm25 import inverse_document_frequency, saturation
from laya_signals.tokenize.base import Tokenizer
from numpy.typing import NDArray

from laya_eval.inspect.collection import Answer, Collection
from laya_eval.inspect.vectors import Vectors

DEPTH = 10
TOP = 5
RRF_K = 60


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A term of a query: how often it stands there, and how rare it is in the corpus."""

    term: str
    count: int
    document_frequency: int
    idf: float


@dataclass(frozen=True, slots=True)
class TermWeight:
    """What a term adds to a paragraph's score: `count · idf · saturation`."""

    term: str
    frequency: int
    saturation: float
    weight: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A place in a leg; `terms` are those of the BM25 leg, whose weights add up to the score."""

    id: str
    rank: int
    score: float
    terms: tuple[TermWeight, ...] = ()


@dataclass(frozen=True, slots=True)
class Fused:
    """A place in the fused ranking, and what each leg contributed."""

    id: str
    rank: int
    score: float
    contributions: tuple[LegContribution, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """A query's rankings; `dense` is None when it has no vector."""

    terms: tuple[QueryTerm, ...]
    bm25: tuple[Hit, ...]
    dense: tuple[Hit, ...] | None
    fused: tuple[Fused, ...]

    @property
    def top(self) -> tuple[str, ...]:
        """The ids that count as found."""
        return tuple(hit.id for hit in self.fused[:TOP])


class Ranker:
    """Ranks the paragraphs of a collection.

    `frequencies` has the terms of each paragraph, those of its title `title_weight` times, and
    `lengths` their number.
    """

    def __init__(self, collection: Collection, vectors: Vectors) -> None:
        self._settings = collection.bm25
        self._vectors = vectors
        self._tokenizer: Tokenizer = collection.tokenizer()
        self.frequencies: dict[str, Counter[str]] = {}
        for paragraph in collection.paragraphs:
            counts = Counter(self._tokenizer.tokenize(paragraph.text))
            for term in self._tokenizer.tokenize(paragraph.title):
                counts[term] += collection.bm25.title_weight
            self.frequencies[paragraph.id] = counts
        self.lengths = {name: counts.total() for name, counts in self.frequencies.items()}
        self.average_length = sum(self.lengths.values()) / len(self.lengths)
        self.document_frequencies = Counter(
            term for counts in self.frequencies.values() for term in counts
        )

    def length_norm(self, name: str) -> float:
        """`1 - b + b · length / average_length` of a paragraph."""
        b = self._settings.b
        return 1.0 - b + b * (self.lengths[name] / self.average_length)

    def trace(self, text: str, query: str | None = None) -> Trace:
        """The rankings of `text`; `query` is its id when a vector of it is saved."""
        terms = self._terms(text)
        bm25 = self._bm25(terms)
        lists, names = [_candidates(bm25)], ["bm25"]
        dense = None
        if query is not None:
            dense = self._dense(self._vectors.queries[query].values)
            lists.append(_candidates(dense))
            names.append("dense")
        fused = RrfFuser(k=RRF_K, explain=True).fuse(lists, names=names)
        return Trace(
            terms,
            bm25,
            dense,
            tuple(
                Fused(hit.id, rank, hit.score, hit.metadata[FUSION_KEY])
                for rank, hit in enumerate(fused, start=1)
            ),
        )

    def _terms(self, text: str) -> tuple[QueryTerm, ...]:
        counts = sorted(Counter(self._tokenizer.tokenize(text)).items())
        frequencies = [self.document_frequencies[term] for term, _ in counts]
        idfs = inverse_document_frequency(frequencies, len(self.lengths))
        return tuple(
            QueryTerm(term, count, frequency, float(idf) if frequency else 0.0)
            for (term, count), frequency, idf in zip(counts, frequencies, idfs, strict=True)
        )

    def _bm25(self, terms: tuple[QueryTerm, ...]) -> tuple[Hit, ...]:
        parts: dict[str, tuple[TermWeight, ...]] = {}
        for name, counts in self.frequencies.items():
            found = tuple(self._weight(term, name) for term in terms if counts[term.term])
            if found:
                parts[name] = found
        scores = {name: sum(part.weight for part in found) for name, found in parts.items()}
        return _best(scores, parts)

    def _weight(self, term: QueryTerm, name: str) -> TermWeight:
        frequency = self.frequencies[name][term.term]
        saturated = float(
            saturation(
                frequency,
                self.lengths[name],
                self.average_length,
                k1=self._settings.k1,
                b=self._settings.b,
            )
        )
        weight = term.count * term.idf * saturated
        return TermWeight(term.term, frequency, saturated, weight)

    def _dense(self, query: NDArray[np.float32]) -> tuple[Hit, ...]:
        documents = self._vectors.documents
        return _best({name: cosine(found.values, query) for name, found in documents.items()}, {})


def cosine(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """The dot product of two unit vectors, `(d,)` both, rounded once: no order of summing shows."""
    return math.fsum(first.astype(np.float64) * second.astype(np.float64))


def missing(answer: Answer, trace: Trace) -> tuple[str, ...]:
    """The paragraphs that `answer` needs and the actual top five lack; without any it is shown.

    Nothing is ever put into a ranking for an answer's sake.
    """
    return tuple(name for name in answer.needs if name not in trace.top)


def _best(
    scores: Mapping[str, float], terms: Mapping[str, tuple[TermWeight, ...]]
) -> tuple[Hit, ...]:
    order = sorted(scores, key=lambda name: (-scores[name], name))[:DEPTH]
    return tuple(
        Hit(name, rank, scores[name], terms.get(name, ()))
        for rank, name in enumerate(order, start=1)
    )


def _candidates(hits: tuple[Hit, ...]) -> list[Candidate]:
    return [Candidate(hit.id, hit.score) for hit in hits]
