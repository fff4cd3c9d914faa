"""What the sentences extracted from a system's first passages say of the gold nuggets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from laya_retrieval.candidate import Candidate
from laya_retrieval.extract import AnswerExtractor
from laya_signals.registry import signals
from laya_signals.tokenize.base import Tokenizer
from numpy.typing import NDArray

from laya_eval.bootstrap import Interval, bootstrap_interval, mean_interval
from laya_eval.errors import DataError, MeasureError
from laya_eval.nuggets import Nuggets, said

if TYPE_CHECKING:
    from laya_eval.retrieval.checkpoint import Retrieved
    from laya_eval.retrieval.corpus import Corpus

#: Passages that an answer is extracted from: as many as `laya ask` keeps.
EVIDENCE = 5


@dataclass(frozen=True, slots=True)
class Extracted:
    """How many nuggets an answer says, in how many characters; and the passages it is from."""

    said: int
    characters: int
    evidence_said: int
    evidence_characters: int


@dataclass(frozen=True, slots=True)
class NuggetRecall:
    """Nuggets of texts, averaged over the queries that have nuggets."""

    #: The share of a query's nuggets that its text says.
    recall: float
    interval: Interval
    #: Of a text; a query without one counts 0.
    characters: float
    #: See `nugget_recall`; None when there is no text at all.
    per_thousand: float | None
    #: None as well when most resamples have no text.
    per_thousand_interval: Interval | None


@dataclass(frozen=True, slots=True)
class Answers:
    """One system's answers, and the passages that they were taken from as their control."""

    answer: NuggetRecall
    evidence: NuggetRecall
    #: The share of the queries for which nothing was extracted.
    abstained: float


class Answering:
    """Extracts as `laya extract` does without a gate: the default extractor on five passages.

    The tokenizer is that of the corpus's lexical leg. Raises `DataError` when none of `queries`
    has a nugget.
    """

    def __init__(self, corpus: Corpus, nuggets: Nuggets, queries: Sequence[str]) -> None:
        entry = corpus.manifest.bm25
        tokenizer = None if entry is None else signals.resolve(entry.tokenizer, Tokenizer)
        self.extractor = AnswerExtractor(tokenizer=tokenizer)
        self.nuggets = {query: nuggets[query] for query in queries if query in nuggets}
        if not self.nuggets:
            raise DataError("none of the measured queries has a gold nugget")

    def extract(self, query: str, text: str, candidates: Sequence[Candidate]) -> dict[str, int]:
        """`Extracted` as a mapping, for query id `query` with the words `text`."""
        nuggets = self.nuggets[query]
        evidence = candidates[:EVIDENCE]
        sentences = sorted(
            self.extractor.extract(text, evidence).sentences,
            # In reading order, so that a nugget of two sentences is one text again.
            key=lambda sentence: (sentence.passage, sentence.span.start),
        )
        answer = " ".join(sentence.text for sentence in sentences)
        passages = "\n".join(candidate.text for candidate in evidence)
        return asdict(
            Extracted(said(nuggets, answer), len(answer), said(nuggets, passages), len(passages))
        )


def measure_answers(
    found: Mapping[str, Retrieved],
    nuggets: Nuggets,
    *,
    resamples: int,
    seed: int,
) -> dict[str, Answers]:
    """System to what its answers say, over the queries of `nuggets`."""
    queries = list(nuggets)
    counts = np.array([len(nuggets[query]) for query in queries], dtype=np.float64)
    result: dict[str, Answers] = {}
    for system in found[queries[0]].answers:
        rows = [Extracted(**found[query].answers[system]) for query in queries]
        lengths = np.array([row.characters for row in rows])
        behind = np.array([row.evidence_characters for row in rows])
        hits = np.array([row.said for row in rows]) / counts
        at_most = np.array([row.evidence_said for row in rows]) / counts
        result[system] = Answers(
            answer=nugget_recall(hits, lengths, resamples, seed),
            evidence=nugget_recall(at_most, behind, resamples, seed),
            abstained=float(np.mean(lengths == 0)),
        )
    return result


def nugget_recall(
    recall: NDArray[np.float64], characters: NDArray[np.int_], resamples: int, seed: int
) -> NuggetRecall:
    """Recall of each query `(queries,)` and the lengths `(queries,)` of the texts, averaged.

    Per thousand characters is 1000 · Σ recall / Σ characters: the ratio of the means, since the
    mean of the ratios would be ruled by the shortest texts, and has no value where there is none.
    Its interval resamples queries, recall and length together.
    """

    def ratio(rows: NDArray[np.intp]) -> float:
        length = float(characters[rows].sum())
        if not length:
            raise MeasureError("there is no text")
        return 1000 * float(recall[rows].sum()) / length

    everything = np.arange(len(recall))
    written = bool(characters.sum())
    return NuggetRecall(
        recall=float(recall.mean()),
        interval=mean_interval(recall, resamples=resamples, seed=seed),
        characters=float(characters.mean()),
        per_thousand=ratio(everything) if written else None,
        per_thousand_interval=bootstrap_interval(ratio, len(recall), resamples=resamples, seed=seed)
        if written
        else None,
    )
