"""Questions to a warm system, end to end, against LangChain and Haystack in the same run.

The same passages, vectors and numbers of candidates from each leg for all (those that the engine's
settings ship with), two threads. All systems take turns, ten questions at a time. `ask` is ours
alone: it also lets the embedded gate read 20 candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from laya_rag.config import CacheSettings, GateSettings, SearchSettings, Settings
from laya_rag.engine.engine import Engine
from laya_rag.engine.result import SearchResult
from laya_signals.encode.mini import MiniEncoder
from laya_signals.registry import ProviderBlock

from laya_eval.bench.peers import Peer
from laya_eval.bench.rivals import DEPTH, KEEP, RIVALS, Rival
from laya_eval.bench.row import Row
from laya_eval.bench.setup import THREADS, Setup
from laya_eval.bench.synthetic import WordVectors
from laya_eval.bench.timing import Spent, in_turn, percentile
from laya_eval.errors import BenchError, MissingPeerError

_WARM = 3
# Questions whose results are compared before any is timed.
_COMPARED = 10
_LEAST_SHARED = 0.2
_ENCODER = WordVectors()
_LEGS = {
    leg: Settings(search=SearchSettings(legs=(leg,)), cache=CacheSettings(vectors=0))
    for leg in ("bm25", "dense")
}


def measure(setup: Setup) -> Iterator[Row]:
    """Median and 95th percentile of each system."""
    corpus = setup.corpus(setup.of(26_000, 5000, 60))
    questions = corpus.questions[: setup.of(40, 12, 4)]
    model = ProviderBlock(provider="decision.mini", config={"threads": THREADS})
    settings = Settings(gate=GateSettings(model=model), cache=CacheSettings(vectors=0))
    mini = MiniEncoder(threads=THREADS)
    calls: dict[str, Callable[[str], object]] = {}
    agreement: dict[str, float] = {}
    missing: dict[Peer, MissingPeerError] = {}
    with Engine.open(corpus.bundle, settings) as engine:
        for peer, make in RIVALS.items():
            try:
                rival = make(corpus.texts, embed, embed)
            except MissingPeerError as error:
                missing[peer] = error
                continue
            agreement[peer.name] = agree(engine, rival, questions[:_COMPARED], peer.name)
            calls[peer.name] = rival.search
        own: dict[str, Callable[[str], object]] = {
            "search": engine.search,
            "ask": engine.ask,
            **{f"leg {leg}": partial(_one_leg, engine, leg) for leg in ("bm25", "dense")},
            "encode": lambda text: mini.encode_queries([text]),
        }
        in_turn({**own, **calls}, corpus.questions[-_WARM:])
        spent = in_turn({**own, **calls}, questions)
    yield from _rows(f"{len(corpus.texts):,} passages", spent, agreement, missing)


def agree(engine: Engine, rival: Rival, questions: Sequence[str], peer: str) -> float:
    """The mean share of our passages that the peer returns too.

    Raises `BenchError` when its vectors do not find what ours find (equal scores aside), and when
    it returns less than it is asked for or hardly anything of ours: their BM25 is another one, but
    both mean the same.
    """
    near = together = total = 0
    for text in questions:
        dense = Settings(search=SearchSettings(keep=DEPTH, depth=DEPTH, legs=("dense",)))
        nearest = documents(engine.search(text, settings=dense))
        near += len(set(nearest) & set(rival.dense(text, DEPTH)))
        total += len(nearest)
        found = rival.search(text)
        own = documents(engine.search(text))
        if len(found) < len(own):
            raise BenchError(f"{peer} returns {len(found)} passages for {text!r}, we {len(own)}")
        together += len(set(own) & set(found))
    share = together / (len(questions) * KEEP)
    if near < 0.99 * total or share < _LEAST_SHARED:
        raise BenchError(
            f"{peer} finds other passages: {near / total:.3f} of the nearest by vector, "
            f"{share:.3f} of the best by both legs"
        )
    return share


def documents(result: SearchResult) -> list[str]:
    """The ids of a result's documents, best first."""
    return [passage.candidate.metadata["document_id"] for passage in result.passages]


def embed(texts: Sequence[str]) -> list[list[float]]:
    """The vectors of the bundle's encoder as the peers want them."""
    vectors: list[list[float]] = _ENCODER.encode_documents(texts).tolist()
    return vectors


def _one_leg(engine: Engine, leg: str, text: str) -> SearchResult:
    return engine.search(text, settings=_LEGS[leg])


def _rows(
    size: str,
    spent: dict[str, Spent],
    agreement: dict[str, float],
    missing: dict[Peer, MissingPeerError],
) -> Iterator[Row]:
    for name, share in ((f"p{percent}", percent) for percent in (50, 95)):
        own = percentile(spent["search"].wall, share)
        task = f"search {size}, {name}"
        used = f"{percentile(spent['search'].processor, share):.1f} ms of processor time"
        for peer, common in agreement.items():
            theirs = percentile(spent[peer].wall, share)
            note = f"{common:.0%} of passages in common; ours: {used}"
            yield Row(task, "ms", own, peer, theirs, note)
        for lacking, error in missing.items():
            yield lacking.missing(task, "ms", own, error)
        used = f"{percentile(spent['ask'].processor, share):.0f} ms of processor time"
        yield Row(
            f"ask {size}, gate over 20, {name}",
            "ms",
            percentile(spent["ask"].wall, share),
            note=used,
        )
    for name, task in (
        ("leg bm25", f"search {size}, BM25 alone, p50"),
        ("leg dense", f"search {size}, vectors alone, p50"),
        ("encode", "encode a question with encoder.mini, p50"),
    ):
        used = f"{percentile(spent[name].processor, 50):.1f} ms of processor time"
        yield Row(task, "ms", percentile(spent[name].wall, 50), note=used)
