"""How fast chunkers cut, and whether questions find the passage that answers them.

The quality of passages is measured where the data has gold spans: `docs_full.jsonl.gz` (`_id`,
`title`, `text`) and `queries.jsonl.gz` (`text`, `type`: a document's id, `spans`: the characters of
it that answer). Each chunker's passages are ranked by the same BM25 and read from the best down,
what was read before counted once, until the reader has seen `BUDGET` characters; so no chunker
gains by the size or the number of its passages. Recall is the share of a question's gold characters
that were seen, precision their share of what was seen. Peers overlap by whole sentences or
paragraphs only, so by less than they are asked to; `chars/char` says how much text each one stores.
"""

from __future__ import annotations

import gzip
import json
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from laya_index.chunk.base import Chunker
from laya_index.chunk.paragraph import ParagraphChunker
from laya_index.chunk.tokens import TokensChunker
from laya_index.document import OffsetMap, RedactedDocument
from laya_signals.bm25 import inverse_document_frequency, saturation
from laya_signals.tokenize.word import WordTokenizer

from laya_eval.bench import synthetic
from laya_eval.bench.peers import CHONKIE, SPLITTERS
from laya_eval.bench.row import Row
from laya_eval.bench.setup import Setup
from laya_eval.bench.timing import race
from laya_eval.errors import BenchError, MissingPeerError

Interval = tuple[int, int]
#: What a passage holds, what neighbours share, and what is read for a question, in characters.
CHARS, OVERLAP, BUDGET = 1200, 400, 6000
SPANS = "docs_full.jsonl.gz"
#: From a text to the `start, end` of its passages.
Cutter = Callable[[str], list[Interval]]


def measure(setup: Setup) -> Iterator[Row]:
    """Passages of 1,200 characters, overlap 400; every side cuts the same long documents."""
    with_spans = setup.data is not None and (setup.data / SPANS).exists()
    corpus = load_corpus(setup.data) if setup.data is not None and with_spans else None
    texts = list(corpus.texts.values()) if corpus else _documents(setup)
    own = {
        "chunker.paragraph": ours(ParagraphChunker(chars=CHARS, overlap=OVERLAP)),
        "chunker.paragraph, half the overlap": ours(
            ParagraphChunker(chars=CHARS, overlap=OVERLAP // 2)
        ),
        "chunker.paragraph, no overlap": ours(ParagraphChunker(chars=CHARS, overlap=0)),
        "chunker.tokens": ours(TokensChunker()),
    }
    theirs: dict[str, Cutter] = {}
    for peer, make in ((SPLITTERS, _langchain), (CHONKIE, _chonkie)):
        try:
            found = make()
        except MissingPeerError as error:
            yield peer.missing("cut into passages", "MB/s", None, error)
            continue
        for name, cut in found.items():
            theirs[f"{peer.name}, {name}"] = cut
    cutters = {**own, **theirs}
    for name, cut in cutters.items():
        _check(name, cut, texts)
    speeds = megabytes_per_second(cutters, texts, setup.of(5, 2, 1))
    first = next(iter(own))
    for name in theirs:
        yield Row("cut into passages", "MB/s", speeds[first], name, speeds[name], f"ours: {first}")
    for name in list(own)[1:]:
        yield Row(f"cut into passages, {name}", "MB/s", speeds[name])
    if corpus is not None:
        for name, cut in own.items():
            yield _quality_row(corpus, name, cut, "")
        for name, cut in theirs.items():
            yield _quality_row(corpus, first, own[first], name, cut)


def _documents(setup: Setup) -> list[str]:
    """Long documents made of the words of a hundred short ones each."""
    texts = list(setup.corpus(setup.of(5000, 2000, 60)).texts.values())
    return [synthetic.prose(texts[n : n + 100]) for n in range(0, min(len(texts), 1000), 100)]


def _quality_row(
    corpus: Corpus, name: str, cut: Cutter, peer: str, other: Cutter | None = None
) -> Row:
    own = quality(corpus, cut, BUDGET)
    theirs = None if other is None else quality(corpus, other, BUDGET)
    shown = theirs or own
    note = f"{'' if theirs is None else 'theirs: '}{shown.passages} passages, "
    note += f"{shown.duplication:.2f} chars/char, {shown.whole:.3f} of gold spans whole, "
    note += f"precision {shown.precision:.4f}"
    recall = None if theirs is None else theirs.recall
    return Row(
        f"gold characters in {BUDGET:,} read, {name}", "recall", own.recall, peer, recall, note
    )


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the characters `start:end` of a document that answer it."""

    text: str
    document: str
    spans: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts by document id, and questions about them."""

    texts: dict[str, str]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Quality:
    """What a chunker's passages are good for; shares in 0..1, means over questions.

    `whole` is the share of gold spans that lie in one passage; `duplication` is the characters in
    passages per character of the texts.
    """

    passages: int
    duplication: float
    whole: float
    recall: float
    precision: float


def load_corpus(folder: Path) -> Corpus:
    """Read the data set in `folder`; raises `OSError` or `KeyError` when it is not laid out so."""
    texts = {row["_id"]: row["text"] for row in _rows(folder / "docs_full.jsonl.gz")}
    questions = tuple(
        Question(row["text"], row["type"], tuple((start, end) for start, end in row["spans"]))
        for row in _rows(folder / "queries.jsonl.gz")
    )
    return Corpus(texts, questions)


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def ours(chunker: Chunker) -> Cutter:
    """A chunker of this project on plain text."""

    def cut(text: str) -> list[Interval]:
        document = RedactedDocument("d", text, "", "text/plain", "", {}, "", OffsetMap(), {})
        return [(span.start, span.end) for span in chunker.chunk(document)]

    return cut


def _langchain() -> dict[str, Cutter]:
    splitter = SPLITTERS.load().RecursiveCharacterTextSplitter(
        chunk_size=CHARS, chunk_overlap=OVERLAP, add_start_index=True
    )
    return {
        "recursive": lambda text: [
            (
                item.metadata["start_index"],
                item.metadata["start_index"] + len(item.page_content),
            )
            for item in splitter.create_documents([text])
        ]
    }


def _chonkie() -> dict[str, Cutter]:
    chonkie = CHONKIE.load()
    chunkers = {
        "recursive": chonkie.RecursiveChunker(tokenizer="character", chunk_size=CHARS),
        "sentence": chonkie.SentenceChunker(
            tokenizer="character", chunk_size=CHARS, chunk_overlap=OVERLAP
        ),
    }
    return {
        name: lambda text, chunker=chunker: [  # type: ignore[misc]
            (item.start_index, item.end_index) for item in chunker.chunk(text)
        ]
        for name, chunker in chunkers.items()
    }


def _check(name: str, cut: Cutter, texts: Sequence[str]) -> None:
    """Raises `BenchError` unless the passages hold all of the texts but spaces."""
    for text in texts:
        left = np.array([not character.isspace() for character in text])
        for start, end in cut(text):
            left[start:end] = False
        if left.any():
            raise BenchError(f"{name} leaves out character {int(left.argmax())} of a text")


def quality(corpus: Corpus, cut: Cutter, budget: int) -> Quality:
    """Ask all questions of the passages that `cut` makes; see the module for the measures."""
    passages = [(name, *span) for name, text in corpus.texts.items() for span in cut(text)]
    ranker = _Bm25([corpus.texts[name][start:end] for name, start, end in passages])
    whole, recalls, precisions = [], [], []
    for question in corpus.questions:
        gold = _characters(corpus, question.document, question.spans)
        seen = {name: np.zeros(len(text), bool) for name, text in corpus.texts.items()}
        left = budget
        for index in ranker.rank(question.text):
            name, start, end = passages[index]
            new = start + np.flatnonzero(~seen[name][start:end])[:left]
            seen[name][new] = True
            left -= len(new)
            if left == 0:
                break
        hits = int((seen[question.document] & gold).sum())
        recalls.append(hits / int(gold.sum()))
        precisions.append(hits / max(budget - left, 1))
        whole += [
            any(
                name == question.document and start <= first and last <= end
                for name, start, end in passages
            )
            for first, last in question.spans
        ]
    shown = sum(end - start for _, start, end in passages)
    return Quality(
        passages=len(passages),
        duplication=shown / sum(map(len, corpus.texts.values())),
        whole=statistics.fmean(whole),
        recall=statistics.fmean(recalls),
        precision=statistics.fmean(precisions),
    )


def _characters(corpus: Corpus, document: str, spans: Sequence[Interval]) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(corpus.texts[document]), bool)
    for start, end in spans:
        found[start:end] = True
    return found


class _Bm25:
    """BM25 (k1 1.2, b 0.75) over passages, as the lexical leg weighs them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._tokenizer = WordTokenizer(stem="english", stop_words="english")
        counts = [Counter(self._tokenizer.tokenize(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], float)
        postings: dict[str, tuple[list[int], list[int]]] = {}
        for index, count in enumerate(counts):
            for term, frequency in count.items():
                rows, frequencies = postings.setdefault(term, ([], []))
                rows.append(index)
                frequencies.append(frequency)
        average = float(lengths.mean()) if len(texts) else 0.0
        self._size = len(texts)
        self._weights = {
            term: (
                np.array(rows),
                saturation(frequencies, lengths[rows], average, k1=1.2, b=0.75)
                * inverse_document_frequency(len(rows), len(texts)),
            )
            for term, (rows, frequencies) in postings.items()
        }

    def rank(self, query: str) -> list[int]:
        """Passages that share a term with the query, the best first."""
        scores = np.zeros(self._size)
        for term in self._tokenizer.tokenize(query):
            if term in self._weights:
                rows, weights = self._weights[term]
                scores[rows] += weights
        order: list[int] = np.argsort(-scores, kind="stable")[: int((scores > 0).sum())].tolist()
        return order


def megabytes_per_second(
    cutters: Mapping[str, Cutter], texts: Sequence[str], rounds: int = 5
) -> dict[str, float]:
    """UTF-8 megabytes that each cuts in a second, in the best of `rounds`; they take turns."""

    def cut_all(cut: Cutter) -> None:
        for text in texts:
            cut(text)

    size = sum(len(text.encode()) for text in texts) / 1e6
    times = race({name: partial(cut_all, cut) for name, cut in cutters.items()}, rounds=rounds)
    return {name: 1e3 * size / spent for name, spent in times.items()}
