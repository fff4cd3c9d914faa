"""How many documents a second each stage of a run takes in, beside peers in the same run.

    uv run --group oracles --with langchain-text-splitters python -m laya_eval.bench.ingest DATA

DATA is a BEIR folder. A stack with every signal that needs no download runs once, from nothing and
in one process, and every stage's share of the time is printed. Then peers do the same work on the
same passages: langchain's splitter cuts the documents, bm25s counts and weighs the passages, and
sentence-transformers encodes the first `--encode` of them with the weights in `--peer-model`. A
ratio above 1 says how many times as fast we are. A peer that is not installed is named as such.

Cutting and counting include what a run needs beside them (offsets, rows, files); a peer's time is
of its bare call.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import laya_signals.encode.mini as mini
from laya_index.bundle.reader import BundleReader
from laya_index.process import RunReport, process
from laya_index.stack import load_stack

STACK = """\
name: ingest
source: {{provider: source.jsonl, config: {{path: "{corpus}"}}}}
chunk: {{provider: chunker.paragraph}}
redact: {{provider: redact.patterns}}
signals:
  bm25: {{provider: tokenizer.word, config: {{stem: english, stop_words: english}}}}
  embedding: {{provider: encoder.mini}}
  sparse: {{provider: sparse.hashing}}
  multivector: {{provider: multivector.hashing, keep_multivectors: false}}
  fde: {{provider: fde.muvera, config: {{repetitions: 20, k_sim: 2, projection: 16}}}}
graph: {{provider: graph.patterns}}
export: {{path: "{out}"}}
"""


@dataclass(frozen=True, slots=True)
class Peer:
    """What a peer did in the place of one stage: `done` units in `seconds`."""

    stage: str
    name: str
    done: int
    seconds: float


def ingest(folder: Path, data: Path, documents: int) -> tuple[RunReport, list[str], list[str]]:
    """Run the stack on the first `documents` of the corpus: the report, texts and passages."""
    found = next(
        path for name in ("corpus.jsonl", "corpus.jsonl.gz") if (path := data / name).exists()
    )
    opener = gzip.open if found.suffix == ".gz" else open
    corpus = folder / "corpus.jsonl"
    with opener(found, "rt", encoding="utf-8") as source:
        lines = list(islice(source, documents))
    corpus.write_text("".join(lines), encoding="utf-8")
    stack = folder / "ingest.yaml"
    stack.write_text(STACK.format(corpus=corpus.as_posix(), out=(folder / "out").as_posix()))
    report = process(load_stack(stack), workers=1, full=True)
    with BundleReader.open(folder / "out") as reader:
        table = reader.read("chunks", ["title", "content"])
    rows = zip(table["title"].to_pylist(), table["content"].to_pylist(), strict=True)
    passages = [f"{title}\n{content}" for title, content in rows]
    return report, [json.loads(line)["text"] for line in lines], passages


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def peers(
    texts: Sequence[str], passages: Sequence[str], encode: int, model: Path | None
) -> tuple[list[Peer], list[str]]:
    """What the installed peers do, and the names of those that are not installed."""
    found: list[Peer] = []
    missing: list[str] = []

    def module(name: str) -> Any:
        try:
            return import_module(name)
        except ImportError:
            missing.append(name)
            return None

    if splitters := module("langchain_text_splitters"):
        splitter = splitters.RecursiveCharacterTextSplitter(
            chunk_size=1200, chunk_overlap=400, add_start_index=True
        )
        spent = _timed(lambda: splitter.create_documents(list(texts)))
        found.append(Peer("chunk", "langchain recursive", len(passages), spent))
    if bm25s := module("bm25s"):
        stemmer = import_module("Stemmer").Stemmer("english")

        def build() -> None:
            tokens = bm25s.tokenize(
                list(passages), stopwords="en", stemmer=stemmer, show_progress=False
            )
            bm25s.BM25(method="lucene", k1=1.2, b=0.75).index(tokens, show_progress=False)

        found.append(Peer("bm25", "bm25s", len(passages), _timed(build)))
    if model is not None and (library := module("sentence_transformers")):
        encoder = library.SentenceTransformer(str(model), device="cpu")
        some = list(passages[:encode])
        encoder.encode(some[:8])
        spent = _timed(lambda: encoder.encode(some, batch_size=32, show_progress_bar=False))
        found.append(Peer("embedding", "sentence-transformers", len(some), spent))
    return found, missing


def encode_seconds(texts: Sequence[str]) -> float:
    """Our encoder on the same passages that the peer encodes."""
    encoder = mini.MiniEncoder()
    encoder.encode_documents(list(texts[:8]))
    return _timed(lambda: encoder.encode_documents(list(texts)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row per stage, then a row per peer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path, help="a BEIR folder")
    parser.add_argument("--documents", type=int, default=5000, help="documents to index")
    parser.add_argument("--encode", type=int, default=200, help="passages for the encoders")
    parser.add_argument("--peer-model", type=Path, help="folder of all-MiniLM-L6-v2 for the peer")
    options = parser.parse_args(arguments)
    write = sys.stdout.write
    with tempfile.TemporaryDirectory() as name:
        report, texts, passages = ingest(Path(name), options.data, options.documents)
    write(
        f"{report.documents} documents, {report.chunks} passages, "
        f"{sum(map(len, texts)) / 1e6:.1f} million characters, one process\n\n"
        "| stage | seconds | documents/s | passages/s |\n|---|---|---|---|\n"
    )
    for stage, spent in sorted(report.seconds.items(), key=lambda item: -item[1]):
        speeds = (
            f"{count / spent:,.0f}" if spent else "" for count in (report.documents, report.chunks)
        )
        write(f"| {stage} | {spent:.2f} | {' | '.join(speeds)} |\n")
    found, missing = peers(texts, passages, options.encode, options.peer_model)
    write(
        "\n| stage | peer | peer, passages/s | ours, passages/s | ratio |\n|---|---|---|---|---|\n"
    )
    for peer in found:
        if peer.stage == "embedding":
            ours = peer.done / encode_seconds(passages[: peer.done])
        else:
            ours = report.chunks / report.seconds[peer.stage]
        theirs = peer.done / peer.seconds
        write(
            f"| {peer.stage} | {peer.name} | {theirs:,.0f} | {ours:,.0f} | {ours / theirs:.2f} |\n"
        )
    if missing:
        write(f"\nnot installed: {', '.join(missing)}\n")


if __name__ == "__main__":
    main()
