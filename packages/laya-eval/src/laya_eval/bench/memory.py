"""The memory of a process that serves a corpus, as the corpus grows, beside LangChain and Haystack.

Each system runs in a process of its own that answers questions and then says what the kernel cannot
take back from it (`RssAnon`) and the most that it ever had resident (`VmHWM`, files included).
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
from laya_index.bundle.reader import BundleReader
from laya_rag.backend.bundle import BundleBackend
from laya_rag.engine.engine import Engine

from laya_eval.bench.resident import STATUS, Resident, hold, resident
from laya_eval.bench.rivals import RIVALS
from laya_eval.bench.row import Row
from laya_eval.bench.setup import Corpus, Setup
from laya_eval.errors import BenchError, MissingPeerError

# Questions that our process answers before it is measured.
_ASKED = 100


def measure(setup: Setup) -> Iterator[Row]:
    """Private memory by the number of passages, and how much it grows.

    Peers hold everything in memory, so they are not given the largest corpus. Raises `BenchError`
    where there is no `/proc`, and when a process runs out of memory.
    """
    if not STATUS.exists():
        raise BenchError(f"memory is read from {STATUS}, which this system does not have")
    sizes = setup.of((10_000, 26_000, 200_000), (2000, 5000, 20_000), (60, 120, 200))
    corpora = [setup.corpus(size) for size in sizes]
    counts = [len(corpus.texts) for corpus in corpora]
    if counts[0] == counts[-1]:
        note = f"the data has {counts[0]:,} documents, too few to grow: measure without --data"
        yield Row("private memory", "MiB", None, note=note)
        return
    own = [_apart(serve, _opened(corpus), corpus.questions[:_ASKED]) for corpus in corpora]
    for peer in RIVALS:
        task = f"private memory, {counts[0]:,} passages"
        try:
            theirs = [
                _apart(hold, peer, corpus.path, _vectors(corpus), corpus.questions)
                for corpus in corpora[:-1]
            ]
        except MissingPeerError as error:
            yield peer.missing(task, "MiB", own[0].private, error)
            continue
        for count, mine, other in zip(counts, own, theirs, strict=False):
            note = f"peak resident: ours {mine.peak:.0f} MiB, theirs {other.peak:.0f} MiB"
            task = f"private memory, {count:,} passages"
            yield Row(task, "MiB", mine.private, peer.name, other.private, note)
        yield _growth(counts[:2], own, peer.name, theirs)
    for count, mine in zip(counts, own, strict=True):
        note = f"peak resident {mine.peak:.0f} MiB"
        yield Row(f"private memory, {count:,} passages", "MiB", mine.private, note=note)
    yield _growth([counts[0], counts[-1]], [own[0], own[-1]])


def serve(bundle: Path, questions: Sequence[str]) -> Resident:
    """Answer from a bundle; for a process of its own."""
    with Engine.open(bundle) as engine:
        for text in questions:
            engine.search(text)
        return resident()


def _vectors(corpus: Corpus) -> Path:
    """A file with the vectors of the bundle in the order of the corpus."""
    with BundleReader.open(corpus.bundle) as reader:
        table = reader.read("chunks", ["document_id", "embedding"])
    places = {name: place for place, name in enumerate(table["document_id"].to_pylist())}
    matrix = np.stack(table["embedding"].to_numpy())[[places[name] for name in corpus.texts]]
    path = corpus.path.with_name("vectors.npy")
    np.save(path, matrix)
    return path


def _opened(corpus: Corpus) -> Path:
    """The bundle, once its arrays are made, which is not to be measured."""
    BundleBackend(corpus.bundle).close()
    return corpus.bundle


def _apart(work: Callable[..., Resident], *arguments: object) -> Resident:
    """`work` in a fresh process."""
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            return pool.submit(work, *arguments).result()
    except BrokenProcessPool as error:
        raise BenchError(f"{work.__name__}: its process died; is there enough memory?") from error


def _growth(
    counts: Sequence[int],
    own: Sequence[Resident],
    peer: str = "",
    theirs: Sequence[Resident] | None = None,
) -> Row:
    def percent(found: Sequence[Resident]) -> float:
        return 100 * (found[1].private / found[0].private - 1)

    task = f"growth of private memory, {counts[0]:,} to {counts[1]:,} passages"
    return Row(task, "%", percent(own), peer, None if theirs is None else percent(theirs))
