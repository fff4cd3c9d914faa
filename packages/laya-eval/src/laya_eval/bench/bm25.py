"""BM25: building, searching, scoring a pool just fetched, against bm25s and rank-bm25."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from laya_rag.access import Access
from laya_rag.backend.bundle import BundleBackend
from laya_retrieval import Bm25Rescorer, Candidate
from laya_signals.bm25 import inverse_document_frequency
from laya_signals.tokenize.whitespace import WhitespaceTokenizer

from laya_eval.bench.contest import contest, same_scores
from laya_eval.bench.peers import BM25S, RANK_BM25
from laya_eval.bench.row import Row
from laya_eval.bench.setup import Corpus, Setup
from laya_eval.bench.timing import elapsed
from laya_eval.errors import MissingPeerError

DEPTH = 20


def measure(setup: Setup) -> Iterator[Row]:
    """All sides split at spaces, and give the same scores; see `_rank_bm25` for its own idf."""
    corpus = setup.corpus(setup.of(5000, 2000, 60))
    yield from _build(setup, corpus)
    yield from _search(setup, corpus)
    for pool in (100, setup.of(1000, 1000, 50)):
        yield from _rescore(setup, pool)


def _build(setup: Setup, corpus: Corpus) -> Iterator[Row]:
    """Ours reads a file, writes a bundle with the texts, and opens it; peers get tokens' texts."""
    texts = list(corpus.texts.values())
    out = setup.folder / "bm25"
    spent = counting = math.inf
    for number in range(setup.of(3, 1, 1)):
        place = out / str(number)
        reports: list[float] = []

        def build(place: Any = place, reports: list[float] = reports) -> None:
            reports.append(corpus.index(place, encoder=None).seconds["bm25"])
            BundleBackend(place).close()

        spent = min(spent, elapsed(build))
        counting = min(counting, *reports)
    builders = {BM25S: _bm25s_build, RANK_BM25: _rank_bm25_build}
    for task, own in (
        (f"BM25: count and weigh {len(texts):,} passages", counting),
        (f"BM25: file to searchable bundle, {len(texts):,} passages", spent),
    ):
        for peer, build_peer in builders.items():
            try:
                call = build_peer(texts)
            except MissingPeerError as error:
                yield peer.missing(task, "s", own, error)
                continue
            call()
            theirs = min(elapsed(call) for _ in range(setup.of(3, 1, 1)))
            yield Row(task, "s", own, peer.name, theirs, "the peer's is in memory")


def _search(setup: Setup, corpus: Corpus) -> Iterator[Row]:
    """The best of all passages for a question, texts and metadata with ours, ids with peers'."""
    place = setup.folder / "bm25" / "0"
    view = BundleBackend(place).view(Access(all_tenants=True))
    questions = corpus.questions[: setup.of(100, 50, 5)]
    queries = [view.query(text, modes=["bm25"], depth=DEPTH) for text in questions]
    expected = [
        {c.metadata["document_id"]: c.score for c in view.search(q)["bm25"]} for q in queries
    ]

    def ours() -> None:
        for query in queries:
            view.search(query)

    yield from contest(
        f"BM25: best {DEPTH} of {len(corpus.texts):,} passages",
        ours,
        {
            BM25S: lambda: _bm25s_search(corpus, questions, expected),
            RANK_BM25: lambda: _rank_bm25_search(corpus, questions, expected),
        },
        per=len(questions),
        rounds=setup.of(5, 3, 1),
        note="ours with texts and metadata, theirs ids",
    )


def _rescore(setup: Setup, pool: int) -> Iterator[Row]:
    """BM25 over a pool that was just fetched, texts to scores, tokenising included."""
    generator = random.Random(1)  # noqa: S311
    words = [f"word{min(int(generator.paretovariate(0.5)), 5000)}" for _ in range(20_000)]
    texts = [" ".join(generator.choices(words, k=150)) for _ in range(pool)]
    query = " ".join(generator.choices(words, k=6))
    candidates = [Candidate(f"{i:05}", 0.0, text) for i, text in enumerate(texts)]
    rescorer = Bm25Rescorer(tokenizer=WhitespaceTokenizer())
    expected = {c.id: c.score for c in rescorer.process(query, candidates)}

    def checked(peer: Any, scores: Sequence[float]) -> None:
        theirs = {c.id: float(s) for c, s in zip(candidates, scores, strict=True)}
        same_scores(expected, theirs, peer.name, tolerance=1e-5)

    def rank_bm25() -> Callable[[], object]:
        build = _rank_bm25_build(texts, k1=1.5)
        index = build()
        _with_our_idf(index)
        checked(RANK_BM25, index.get_scores(_words(query)))
        return lambda: build().get_scores(_words(query))

    def bm25s() -> Callable[[], object]:
        build = _bm25s_build(texts, k1=1.5)
        factor = 1.5 + 1  # bm25s leaves it out, as Lucene does: it changes no order
        checked(BM25S, build().get_scores(_words(query)) * factor)
        return lambda: build().get_scores(_words(query))

    yield from contest(
        f"BM25: score a pool of {pool:,} texts",
        lambda: rescorer.process(query, candidates),
        {BM25S: bm25s, RANK_BM25: rank_bm25},
        rounds=setup.of(15, 5, 1),
    )


def _words(text: str) -> list[str]:
    return text.lower().split()


def _bm25s_build(texts: Sequence[str], k1: float = 1.2) -> Callable[[], Any]:
    library = BM25S.load()

    def build() -> Any:
        index = library.BM25(method="lucene", k1=k1, b=0.75)
        index.index([_words(text) for text in texts], show_progress=False)
        return index

    return build


def _bm25s_search(
    corpus: Corpus, questions: Sequence[str], expected: Sequence[dict[str, float]]
) -> Callable[[], object]:
    index = _bm25s_build(list(corpus.texts.values()))()
    names = list(corpus.texts)
    tokens = [_words(text) for text in questions]

    def one(words: list[str]) -> Any:
        return index.retrieve([words], k=min(DEPTH, len(names)), show_progress=False)

    for words, ours in zip(tokens, expected, strict=True):
        rows, scores = one(words)
        theirs = [float(score) * (1.2 + 1) for score in scores[0] if score > 0]
        best = {names[row]: score for row, score in zip(rows[0].tolist(), theirs, strict=False)}
        _same_best(ours, best, BM25S.name)

    def call() -> None:
        for words in tokens:
            one(words)

    return call


def _rank_bm25_build(texts: Sequence[str], k1: float = 1.2) -> Callable[[], Any]:
    library = RANK_BM25.load()
    return lambda: library.BM25Okapi([_words(text) for text in texts], k1=k1, b=0.75)


def _with_our_idf(index: Any) -> None:
    """Its own may be negative, which is no BM25 of ours: for comparing scores, ours replaces it."""
    df = Counter(term for frequencies in index.doc_freqs for term in frequencies)
    for term in index.idf:
        index.idf[term] = float(inverse_document_frequency(df[term], index.corpus_size))


def _rank_bm25_search(
    corpus: Corpus, questions: Sequence[str], expected: Sequence[dict[str, float]]
) -> Callable[[], object]:
    index = _rank_bm25_build(list(corpus.texts.values()))()
    _with_our_idf(index)
    names = list(corpus.texts)
    tokens = [_words(text) for text in questions]
    for words, ours in zip(tokens, expected, strict=True):
        scores = index.get_scores(words)
        best = scores.argsort()[::-1][:DEPTH]
        _same_best(
            ours, {names[r]: float(scores[r]) for r in best if scores[r] > 0}, RANK_BM25.name
        )

    def call() -> None:
        for words in tokens:
            index.get_top_n(words, names, n=DEPTH)

    return call


def _same_best(ours: dict[str, float], theirs: dict[str, float], peer: str) -> None:
    """The same scores from the best down; which of two passages of one score is in may differ."""
    ranks = [str(rank) for rank in range(max(len(ours), len(theirs)))]
    same_scores(
        dict(zip(ranks, sorted(ours.values(), reverse=True), strict=False)),
        dict(zip(ranks, sorted(theirs.values(), reverse=True), strict=False)),
        peer,
        tolerance=1e-5,
    )
