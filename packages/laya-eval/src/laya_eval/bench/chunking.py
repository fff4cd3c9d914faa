"""How fast chunkers cut, and whether questions find the passage that answers them.

`python -m laya_eval.bench.chunking FOLDER` cuts long documents with our chunkers and, when they are
installed, with langchain-text-splitters and chonkie, and asks all of them the same questions
(`uv run --with langchain-text-splitters --with chonkie …`). FOLDER holds `docs_full.jsonl.gz`
(`_id`, `title`, `text`) and `queries.jsonl.gz` (`text`, `type`: a document's id, `spans`: the
characters of it that answer).

Each chunker's passages are ranked by the same BM25 and read from the best down, what was read
before counted once, until the reader has seen `--budget` characters; so no chunker gains by the
size or the number of its passages. Recall is the share of a question's gold characters that were
seen, precision their share of what was seen. Peers overlap by whole sentences or paragraphs only,
so by less than they are asked to; `chars/char` says how much text each one stores.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
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

Interval = tuple[int, int]
#: From a text to the `start, end` of its passages.
Cutter = Callable[[str], list[Interval]]


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


def peers(chars: int, overlap: int) -> dict[str, Cutter]:
    """The splitters that are installed, with the same size and, where they have it, overlap."""
    found: dict[str, Cutter] = {}
    try:
        langchain = import_module("langchain_text_splitters")
    except ImportError:
        pass
    else:
        splitter = langchain.RecursiveCharacterTextSplitter(
            chunk_size=chars, chunk_overlap=overlap, add_start_index=True
        )
        found["langchain recursive"] = lambda text: [
            (item.metadata["start_index"], item.metadata["start_index"] + len(item.page_content))
            for item in splitter.create_documents([text])
        ]
    try:
        chonkie = import_module("chonkie")
    except ImportError:
        return found
    recursive = chonkie.RecursiveChunker(tokenizer="character", chunk_size=chars)
    sentence = chonkie.SentenceChunker(
        tokenizer="character", chunk_size=chars, chunk_overlap=overlap
    )
    for name, chunker in (("recursive", recursive), ("sentence", sentence)):
        found[f"chonkie {name}"] = lambda text, chunker=chunker: [  # type: ignore[misc]
            (item.start_index, item.end_index) for item in chunker.chunk(text)
        ]
    return found


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


def megabytes_per_second(cut: Cutter, texts: Sequence[str], rounds: int = 5) -> float:
    """UTF-8 megabytes cut in a second: the median of `rounds`, after one to warm up."""
    size = sum(len(text.encode()) for text in texts) / 1e6
    times = []
    for _ in range(rounds + 1):
        begin = time.perf_counter()
        for text in texts:
            cut(text)
        times.append(time.perf_counter() - begin)
    return size / statistics.median(times[1:])


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row per chunker."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="a data set with gold character spans")
    parser.add_argument("--chars", type=int, default=1200, help="size of a passage")
    parser.add_argument("--overlap", type=int, default=400, help="what neighbours share")
    parser.add_argument("--budget", type=int, default=6000, help="characters read per question")
    parser.add_argument("--rounds", type=int, default=5, help="repetitions of each timing")
    options = parser.parse_args(arguments)
    corpus = load_corpus(options.folder)
    chars, overlap = options.chars, options.overlap
    cutters = {
        "chunker.paragraph": ours(ParagraphChunker(chars=chars, overlap=overlap)),
        "chunker.paragraph, half of it": ours(ParagraphChunker(chars=chars, overlap=overlap // 2)),
        "chunker.paragraph, no overlap": ours(ParagraphChunker(chars=chars, overlap=0)),
        "chunker.tokens": ours(TokensChunker()),
        **peers(chars, overlap),
    }
    write = sys.stdout.write
    write(
        f"{len(corpus.texts)} documents, {len(corpus.questions)} questions; passages of {chars} "
        f"characters, overlap {overlap}; {options.budget} characters read per question\n"
        f"{'':30} passages  chars/char   whole  recall  precision    MB/s\n"
    )
    for name, cut in cutters.items():
        row = quality(corpus, cut, options.budget)
        speed = megabytes_per_second(cut, list(corpus.texts.values()), options.rounds)
        write(
            f"{name:30} {row.passages:8}  {row.duplication:10.2f}  {row.whole:6.3f}  "
            f"{row.recall:6.3f}  {row.precision:9.4f}  {speed:6.2f}\n"
        )


if __name__ == "__main__":
    main()
