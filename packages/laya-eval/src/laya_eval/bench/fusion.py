"""Fusing ranked lists: reciprocal rank fusion with k = 60, against ranx and LangChain."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from laya_retrieval import Candidate, RrfFuser

from laya_eval.bench.contest import contest, same_order, same_scores
from laya_eval.bench.peers import LANGCHAIN, RANX
from laya_eval.bench.row import Row
from laya_eval.bench.setup import Setup


def measure(setup: Setup) -> Iterator[Row]:
    """Ids, texts and metadata in, ids, texts and metadata out; ranx has ids and scores alone."""
    for legs, depth in ((4, 100), (2, setup.of(1000, 1000, 50))):
        lists = ranked_legs(legs, depth)
        fuser = RrfFuser()
        expected = {c.id: c.score for c in fuser.fuse(lists)}
        yield from contest(
            f"RRF of {legs} lists of {depth:,}",
            lambda fuser=fuser, lists=lists: fuser.fuse(lists),  # type: ignore[misc]
            {
                RANX: lambda lists=lists, own=expected: _ranx(lists, own),  # type: ignore[misc]
                LANGCHAIN: lambda lists=lists, own=expected: _ensemble(lists, own),  # type: ignore[misc]
            },
            rounds=setup.of(30, 10, 1),
        )


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


def _ranx(lists: Sequence[Sequence[Candidate]], ours: dict[str, float]) -> Callable[[], Any]:
    """`ranx.fuse` over runs that exist already."""
    ranx = RANX.load()
    runs = [ranx.Run({"q": {c.id: c.score for c in leg}}) for leg in lists]

    def call() -> Any:
        return ranx.fuse(runs, method="rrf", norm=None, params={"k": 60})

    with warnings.catch_warnings():
        # It compiles itself at the first call, and its compiler has doubts about it.
        warnings.simplefilter("ignore")
        same_scores(ours, dict(call()["q"]), RANX.name)
    return call


def _ensemble(lists: Sequence[Sequence[Candidate]], ours: dict[str, float]) -> Callable[[], Any]:
    """The fusion of `EnsembleRetriever`, over LangChain's documents."""
    retriever = LANGCHAIN.load().EnsembleRetriever
    documents = LANGCHAIN.load("langchain_core.documents")
    runnable = LANGCHAIN.load("langchain_core.runnables").RunnableLambda
    found = [
        [
            documents.Document(id=c.id, page_content=c.text, metadata={**c.metadata, "id": c.id})
            for c in leg
        ]
        for leg in lists
    ]
    ensemble = retriever(
        retrievers=[runnable(lambda _: []) for _ in lists], weights=[1.0] * len(lists), id_key="id"
    )

    def call() -> Any:
        return ensemble.weighted_reciprocal_rank(found)

    same_order(ours, [document.metadata["id"] for document in call()], LANGCHAIN.name)
    return call
