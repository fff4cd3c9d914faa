"""Approximate vector search: what it finds of the best that exact search finds, and both times.

With data, its documents and its judged queries are encoded by `encoder.mini`; otherwise by the
synthetic encoder.
"""

from __future__ import annotations

from collections.abc import Iterator

from laya_index.process import process
from laya_index.stack import parse_stack
from laya_rag.access import Access
from laya_rag.backend.bundle import BundleBackend

from laya_eval.bench.peers import FAISS_CPU
from laya_eval.bench.row import Row
from laya_eval.bench.setup import Setup
from laya_eval.bench.timing import in_turn, percentile
from laya_eval.errors import BenchError, MissingPeerError

_LEAST_RECALL = 0.9


def measure(setup: Setup) -> Iterator[Row]:
    """Recall and median time at three depths; the peer is our own exact search."""
    corpus = setup.corpus(setup.of(200_000, 20_000, 200))
    size = f"{len(corpus.texts):,} passages"
    try:
        FAISS_CPU.load()
    except MissingPeerError as error:
        yield FAISS_CPU.missing(f"approximate search of {size}", "ms", None, error)
        return
    bundle = corpus.bundle
    if setup.data is not None:
        bundle = setup.folder / "approximate"
        process(parse_stack(corpus.stack(bundle, encoder="encoder.mini")))
    questions = corpus.questions[: setup.of(100, 50, 4)]
    exact, near = (
        BundleBackend(bundle, approximate=approximate).view(Access(all_tenants=True))
        for approximate in (False, True)
    )
    for depth in (10, 20, 100):
        queries = [exact.query(text, depth=depth, modes=["dense"]) for text in questions]
        hits = total = 0
        for query in queries:
            best = {c.id for c in exact.search(query)["dense"]}
            hits += len(best & {c.id for c in near.search(query)["dense"]})
            total += len(best)
        recall = hits / total
        if recall < _LEAST_RECALL:
            raise BenchError(f"approximate search finds {recall:.3f} of the best {depth} in {size}")
        spent = in_turn({"ours": near.search, "exact": exact.search}, queries)
        own, other = (percentile(spent[name].wall, 50) for name in ("ours", "exact"))
        task = f"approximate search of {size}, depth {depth}"
        note = f"recall@{depth} {recall:.4f} over {len(queries)} questions"
        yield Row(task, "ms", own, "ours, exact", other, note)
