"""From a file of documents to the first answer, end to end, against LangChain and Haystack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from laya_index.process import process
from laya_index.stack import parse_stack
from laya_rag.engine.engine import Engine

from laya_eval.bench.query import documents, embed
from laya_eval.bench.rivals import RIVALS, Rival
from laya_eval.bench.row import Row
from laya_eval.bench.setup import Corpus, Setup
from laya_eval.bench.timing import elapsed
from laya_eval.errors import BenchError, MissingPeerError
from laya_eval.reading import json_objects

#: Characters of a passage.
CHARS = 1200
CHUNKER = {"provider": "chunker.paragraph", "config": {"chars": CHARS, "overlap": 0}}


def measure(setup: Setup) -> Iterator[Row]:
    """The same encoder for all, one process each; ours ends on disk, the peers' in memory."""
    corpus = setup.corpus(setup.of(5000, 2000, 60))
    embed(list(corpus.texts.values()))  # the vectors of words are made once, for all sides
    warm = setup.corpus(20)  # so that no side is timed while it imports what it needs
    found: list[str] = []
    _ingest_ours(warm, setup.folder / "warm", [])
    spent = elapsed(partial(_ingest_ours, corpus, setup.folder / "ingest", found))
    task = f"index {len(corpus.texts):,} documents and answer a question"
    for peer, make in RIVALS.items():
        theirs: list[str] = []
        try:
            _ingest(make, warm, [])
        except MissingPeerError as error:
            yield peer.missing(task, "s", spent, error)
            continue
        peer_spent = elapsed(partial(_ingest, make, corpus, theirs))
        if not set(found) & set(theirs):
            raise BenchError(f"{peer.name} finds {theirs}, we find {found}: nothing in common")
        yield Row(task, "s", spent, peer.name, peer_spent, "ours is on disk, theirs in memory")


def _ingest_ours(corpus: Corpus, out: Path, found: list[str]) -> None:
    """From the file to a bundle, its arrays, and what we answer."""
    process(parse_stack(corpus.stack(out, chunker=CHUNKER)), workers=1)
    with Engine.open(out) as engine:
        found.extend(documents(engine.search(corpus.questions[0])))


def _ingest(
    make: Callable[..., Rival],
    corpus: Corpus,
    found: list[str],
) -> None:
    """Read the file, build, and put into `found` what the peer answers."""
    texts = {row["_id"]: row["text"] for _, row in json_objects(corpus.path)}
    found.extend(make(texts, embed, embed, CHARS).search(corpus.questions[0]))
