"""How many passages a second each stage of indexing takes in, beside peers on the same passages.

A stack with every signal that needs no download runs from nothing in one process. Cutting and
counting include what a run needs beside them (offsets, rows, files); a peer's time is of its bare
call. The encoders are compared on the first passages alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from laya_index.bundle.reader import BundleReader
from laya_index.process import RunReport, process
from laya_index.stack import parse_stack
from laya_signals.encode.mini import MiniEncoder

from laya_eval.bench.gate import mini_lm
from laya_eval.bench.peers import BM25S, SENTENCE_TRANSFORMERS, SPLITTERS, Peer
from laya_eval.bench.row import Row
from laya_eval.bench.setup import THREADS, Setup
from laya_eval.bench.timing import elapsed
from laya_eval.errors import MissingPeerError

STACK = """\
name: stages
source: {{provider: source.jsonl, config: {{path: "{corpus}"}}}}
chunk: {{provider: chunker.paragraph}}
redact: {{provider: redact.patterns}}
signals:
  bm25: {{provider: tokenizer.word, config: {{stem: english, stop_words: english}}}}
  embedding: {{provider: "{encoder}"}}
  sparse: {{provider: sparse.hashing}}
  multivector: {{provider: multivector.hashing, keep_multivectors: false}}
  fde: {{provider: fde.muvera, config: {{repetitions: 20, k_sim: 2, projection: 16}}}}
graph: {{provider: graph.patterns}}
export: {{path: "{out}"}}
"""


def measure(setup: Setup) -> Iterator[Row]:
    """Every stage of one run; `encoder.mini` apart, on a part of the passages."""
    corpus = setup.corpus(setup.of(5000, 500, 60))
    report, passages = _index(setup.folder / "stages", corpus.path)
    yield from _stages(report)
    work: dict[Peer, tuple[str, Callable[[Sequence[str]], Callable[[], Any]]]] = {
        SPLITTERS: ("chunk", _splitting),
        BM25S: ("bm25", _counting),
    }
    texts = list(corpus.texts.values())
    for peer, (stage, make) in work.items():
        own = report.chunks / report.seconds[stage]
        task = f"stage {stage}, against a peer"
        try:
            call = make(texts if stage == "chunk" else passages)
        except MissingPeerError as error:
            yield peer.missing(task, "passages/s", own, error)
            continue
        yield Row(task, "passages/s", own, peer.name, len(passages) / elapsed(call))
    yield _encoding(setup, passages[: setup.of(200, 100, 4)])


def _index(folder: Path, corpus: Path) -> tuple[RunReport, list[str]]:
    """Run the stack: the report, and the passages that it made."""
    out = folder / "bundle"
    stack = STACK.format(
        corpus=corpus.as_posix(),
        out=out.as_posix(),
        encoder="laya_eval.bench.synthetic:WordVectors",
    )
    report = process(parse_stack(stack), workers=1, full=True)
    with BundleReader.open(out) as reader:
        return report, reader.read("chunks", ["content"])["content"].to_pylist()


def _stages(report: RunReport) -> Iterator[Row]:
    for stage, spent in sorted(report.seconds.items(), key=lambda item: -item[1]):
        if spent and stage != "embedding":
            note = f"{spent:.2f} s for {report.documents:,} documents, {report.chunks:,} passages"
            yield Row(f"stage {stage}", "passages/s", report.chunks / spent, note=note)


def _splitting(texts: Sequence[str]) -> Callable[[], Any]:
    splitter = SPLITTERS.load().RecursiveCharacterTextSplitter(
        chunk_size=1200, chunk_overlap=400, add_start_index=True
    )
    return lambda: splitter.create_documents(list(texts))


def _counting(passages: Sequence[str]) -> Callable[[], Any]:
    bm25s = BM25S.load()
    stemmer = BM25S.load("Stemmer").Stemmer("english")

    def build() -> Any:
        tokens = bm25s.tokenize(
            list(passages), stopwords="en", stemmer=stemmer, show_progress=False
        )
        return bm25s.BM25(method="lucene", k1=1.2, b=0.75).index(tokens, show_progress=False)

    return build


def _encoding(setup: Setup, passages: Sequence[str]) -> Row:
    """`encoder.mini` against six MiniLM layers in float32, with random weights."""
    task = f"encode {len(passages)} passages with encoder.mini"
    encoder = MiniEncoder(threads=THREADS)
    encoder.encode_documents(passages[:8])
    own = len(passages) / elapsed(lambda: encoder.encode_documents(passages))
    folder = setup.folder / "mini-lm"
    try:
        library = SENTENCE_TRANSFORMERS.load()
        mini_lm(folder, THREADS)
        peer = library.SentenceTransformer(str(folder), device="cpu")
    except MissingPeerError as error:
        return SENTENCE_TRANSFORMERS.missing(task, "passages/s", own, error)
    peer.encode(list(passages[:8]))
    spent = elapsed(lambda: peer.encode(list(passages), batch_size=32, show_progress_bar=False))
    return Row(task, "passages/s", own, SENTENCE_TRANSFORMERS.name, len(passages) / spent)
