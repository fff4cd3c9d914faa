"""Query-time speed against peers, both sides measured in one run.

    uv run --group oracles --group adapters python -m laya_eval.bench.retrieval

Every comparison is checked for equal results before it is timed. A ratio above 1 says how many
times faster we are; below 1 the peer is faster. A peer that is not installed is left out.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from laya_retrieval import Bm25Rescorer, Candidate, RrfFuser
from laya_signals.bm25 import inverse_document_frequency
from laya_signals.tokenize.whitespace import WhitespaceTokenizer


@dataclass(frozen=True, slots=True)
class Comparison:
    """One task: what it is, our best time, and each peer's, in milliseconds per call."""

    task: str
    ours: float
    peers: dict[str, float] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """One line per peer, with the ratio; one line without any when there is none."""
        head = f"{self.task:<34} ours {self.ours:9.3f} ms"
        if not self.peers:
            return [f"{head}   (no peer installed)"]
        return [
            f"{head}   {peer:<22} {spent:9.3f} ms   {spent / self.ours:7.2f} x"
            for peer, spent in self.peers.items()
        ]


def race(
    calls: Mapping[str, Callable[[], object]], *, rounds: int = 30, seconds: float = 0.02
) -> dict[str, float]:
    """The fastest round of every call, in milliseconds per call.

    Calls take turns, so that all of them meet the same disturbances, and the fastest of many short
    rounds is the one that other processes disturbed least.
    """
    number = {}
    for name, call in calls.items():
        call()
        started = time.perf_counter()
        call()
        number[name] = max(1, int(seconds / max(time.perf_counter() - started, 1e-9)))
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            started = time.perf_counter()
            for _ in range(number[name]):
                call()
            best[name] = min(best[name], (time.perf_counter() - started) / number[name])
    return {name: spent * 1e3 for name, spent in best.items()}


def compared(
    task: str, ours: Callable[[], object], peers: Mapping[str, Callable[[], object]]
) -> Comparison:
    """Race ours against the peers."""
    times = race({"ours": ours, **peers})
    return Comparison(task, times.pop("ours"), times)


def ranked_legs(legs: int, depth: int, *, seed: int = 0) -> list[list[Candidate]]:
    """`legs` rankings of `depth` candidates each, drawn from a pool of twice that many."""
    generator = random.Random(seed)  # noqa: S311
    return [
        [
            Candidate(f"doc-{key}", 1 - place / depth, f"the text of passage {key}", {"n": key})
            for place, key in enumerate(generator.sample(range(2 * depth), depth))
        ]
        for _ in range(legs)
    ]


def compare_rrf(legs: int, depth: int) -> Comparison:
    """RRF with k = 60: ids, texts and metadata in, ids, texts and metadata out."""
    lists = ranked_legs(legs, depth)
    fuser = RrfFuser()
    expected = {c.id: c.score for c in fuser.fuse(lists)}
    peers: dict[str, Callable[[], object]] = {}
    for name, prepare in (("ranx", _ranx), ("LangChain's ensemble", _ensemble)):
        try:
            call, read = prepare(lists)
        except ImportError:
            continue
        _same(expected, read(call()), name)
        peers[name] = call
    return compared(f"RRF {legs} lists x {depth}", lambda: fuser.fuse(lists), peers)


def _ranx(
    lists: Sequence[Sequence[Candidate]],
) -> tuple[Callable[[], Any], Callable[[Any], dict[str, float]]]:
    """`ranx.fuse` over runs that exist already: scores only, its texts travel elsewhere."""
    import ranx  # type: ignore[import-untyped,import-not-found,unused-ignore]

    runs = [ranx.Run({"q": {c.id: c.score for c in leg}}) for leg in lists]

    def call() -> Any:
        return ranx.fuse(runs, method="rrf", norm=None, params={"k": 60})

    return call, lambda run: dict(run["q"])


def _ensemble(
    lists: Sequence[Sequence[Candidate]],
) -> tuple[Callable[[], Any], Callable[[Any], dict[str, float]]]:
    """What `EnsembleRetriever.weighted_reciprocal_rank` does, over LangChain's documents.

    Restated here because `langchain-core` has the documents and another, much larger package the
    retriever.
    """
    from langchain_core.documents import (  # type: ignore[import-not-found,unused-ignore]
        Document,
    )

    documents = [
        [Document(id=c.id, page_content=c.text, metadata={**c.metadata, "id": c.id}) for c in leg]
        for leg in lists
    ]
    weights = [1.0] * len(lists)
    scores: dict[str, float] = {}

    def call() -> list[Any]:
        scores.clear()
        for leg, weight in zip(documents, weights, strict=True):
            for rank, document in enumerate(leg, start=1):
                key = document.metadata["id"]
                scores[key] = scores.get(key, 0.0) + weight / (rank + 60)
        seen: set[str] = set()
        unique = []
        for leg in documents:
            for document in leg:
                if document.metadata["id"] not in seen:
                    seen.add(document.metadata["id"])
                    unique.append(document)
        return sorted(unique, reverse=True, key=lambda d: scores[d.metadata["id"]])

    return call, lambda _: dict(scores)


def compare_bm25(pool: int) -> Comparison:
    """BM25 over a pool that was just fetched, texts to scores, tokenising included."""
    generator = random.Random(1)  # noqa: S311
    words = [f"word{min(int(generator.paretovariate(0.5)), 5000)}" for _ in range(20_000)]
    texts = [" ".join(generator.choices(words, k=150)) for _ in range(pool)]
    query = " ".join(generator.choices(words, k=6))
    candidates = [Candidate(f"{i:05}", 0.0, text) for i, text in enumerate(texts)]
    rescorer = Bm25Rescorer(tokenizer=WhitespaceTokenizer())
    expected = {c.id: c.score for c in rescorer.process(query, candidates)}
    peers: dict[str, Callable[[], object]] = {}
    try:
        import rank_bm25  # type: ignore[import-untyped,import-not-found,unused-ignore]

        def call() -> Any:
            index = rank_bm25.BM25Okapi([t.lower().split() for t in texts], k1=1.5, b=0.75)
            return index.get_scores(query.lower().split())

        # Its idf may be negative, which is no BM25 of ours: compare with that one replaced.
        index = rank_bm25.BM25Okapi([t.lower().split() for t in texts], k1=1.5, b=0.75)
        for term in index.idf:
            df = sum(term in frequencies for frequencies in index.doc_freqs)
            index.idf[term] = float(inverse_document_frequency(df, pool))
        found = index.get_scores(query.lower().split()).tolist()
        _same(expected, {c.id: s for c, s in zip(candidates, found, strict=True)}, "rank_bm25")
        peers["rank_bm25"] = call
    except ImportError:
        pass
    try:
        import bm25s  # type: ignore[import-untyped,import-not-found,unused-ignore]

        def call_bm25s() -> Any:
            index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
            index.index([t.lower().split() for t in texts], show_progress=False)
            return index.get_scores(query.lower().split())

        peers["bm25s"] = call_bm25s
    except ImportError:
        pass
    return compared(
        f"BM25 over {pool} passages", lambda: rescorer.process(query, candidates), peers
    )


def _same(ours: dict[str, float], theirs: dict[str, float], peer: str) -> None:
    if ours.keys() != theirs.keys():
        raise RuntimeError(f"{peer} ranks other candidates than we do")
    for key, score in ours.items():
        if abs(score - theirs[key]) > 1e-6 * max(1.0, abs(score)):
            raise RuntimeError(f"{peer} scores {key} {theirs[key]}, we {score}")


def compare_all() -> list[Comparison]:
    """Every comparison, in the order in which they are printed."""
    return [compare_rrf(4, 100), compare_rrf(2, 1000), compare_bm25(100), compare_bm25(1000)]


def main() -> int:
    """Run and print all comparisons."""
    for comparison in compare_all():
        for line in comparison.lines():
            sys.stdout.write(line + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
