"""Measure the embedded encoder against the original it was made from.

    python packages/laya-mini/recipe/evaluate_encoder.py --data FOLDER

FOLDER holds a collection in BEIR's layout (`corpus.jsonl.gz`, `queries.jsonl.gz`, `qrels.tsv`); the
model card's numbers are from SciFact's. Passages are `title + " " + text`, cut at 256 tokens.
Prints one JSON object. Speeds mean little unless the machine is otherwise idle.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import random
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import source
from laya_signals.encode.mini import MiniEncoder
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

PASSAGES = 1000  # for cosine, invariance and speed


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="a collection in BEIR's layout")
    parser.add_argument("--source", type=Path, help="folder with the original's files")
    parser.add_argument("--speed-only", action="store_true", help="skip what needs the original")
    arguments = parser.parse_args()
    corpus = {row["_id"]: f"{row['title']} {row['text']}" for row in rows(arguments.data, "corpus")}
    passages = random.Random(0).sample(list(corpus.values()), PASSAGES)
    report: dict[str, object] = {
        "load_seconds": load_seconds(),
        "one_query_ms": query_milliseconds(arguments.data),
        "passages_per_second": {
            f"{count} threads": speed(MiniEncoder(threads=count), passages) for count in (1, 2)
        },
        "load_average": os.getloadavg()[0],
    }
    if not arguments.speed_only:
        ours = MiniEncoder().encode_documents(passages)
        report["bit_for_bit"] = invariance(passages, ours)
        original = load_original(arguments.source or source.installed_folder())
        cosine = (ours * original(passages)).sum(axis=1)
        report["cosine"] = {"mean": float(cosine.mean()), "min": float(cosine.min())}
        report["ndcg@10"] = {
            "original": ndcg(arguments.data, corpus, original),
            "ours": ndcg(arguments.data, corpus, MiniEncoder().encode_documents),
        }
    print(json.dumps(report, indent=2))


def load_seconds() -> float:
    """From nothing to the first vector of a short text, imports of the runtime included."""
    start = time.perf_counter()
    MiniEncoder().encode_queries(["hello"])
    return time.perf_counter() - start


def query_milliseconds(folder: Path) -> float:
    """Median time of one query on its own."""
    encoder = MiniEncoder()
    times = []
    for row in rows(folder, "queries"):
        start = time.perf_counter()
        encoder.encode_queries([row["text"]])
        times.append(time.perf_counter() - start)
    return float(np.median(times) * 1000)


def speed(encoder: MiniEncoder, passages: list[str]) -> float:
    """Passages per second, tokenising included; the best of three runs."""
    encoder.encode_documents(passages[:10])
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        encoder.encode_documents(passages)
        seconds.append(time.perf_counter() - start)
    return len(passages) / min(seconds)


def invariance(passages: list[str], expected: Vectors) -> dict[str, bool]:
    """Whether the same texts give the same bits however they are encoded."""
    order = np.random.default_rng(0).permutation(len(passages))
    shuffled = MiniEncoder(threads=2).encode_documents([passages[i] for i in order])
    pieces = [passages[i : i + 7] for i in range(0, len(passages), 7)]
    encoder = MiniEncoder(threads=1)
    with get_context("spawn").Pool(1) as pool:
        elsewhere = pool.apply(MiniEncoder(threads=1).encode_documents, (passages[:200],))
    return {
        "order": bool((shuffled == expected[order]).all()),
        "batches of 7, one thread": bool(
            (np.concatenate([encoder.encode_documents(p) for p in pieces]) == expected).all()
        ),
        "three threads": bool(
            (MiniEncoder(threads=3).encode_documents(passages) == expected).all()
        ),
        "another process": bool((elsewhere == expected[:200]).all()),
    }


def load_original(folder: Path) -> Callable[[list[str]], Vectors]:
    """The original in float32, through sentence-transformers."""
    from sentence_transformers import SentenceTransformer

    source.verified(folder, "model.safetensors")
    model = SentenceTransformer(str(folder), device="cpu")
    model.max_seq_length = 256
    return lambda texts: model.encode(texts, batch_size=32, normalize_embeddings=True)


def ndcg(folder: Path, corpus: dict[str, str], encode: Callable[[list[str]], Vectors]) -> float:
    """nDCG@10 of exact search over the whole corpus."""
    import ir_measures

    with (folder / "qrels.tsv").open(encoding="utf-8") as file:
        judged = [
            ir_measures.Qrel(row["query-id"], row["corpus-id"], int(row["score"]))
            for row in csv.DictReader(file, delimiter="\t")
        ]
    wanted = {qrel.query_id for qrel in judged}
    queries = {row["_id"]: row["text"] for row in rows(folder, "queries") if row["_id"] in wanted}
    names = list(corpus)
    scores = encode(list(queries.values())) @ encode(list(corpus.values())).T
    run = [
        ir_measures.ScoredDoc(query, names[index], float(line[index]))
        for query, line in zip(queries, scores, strict=True)
        for index in np.argsort(-line, kind="stable")[:100]
    ]
    return float(ir_measures.calc_aggregate([ir_measures.nDCG @ 10], judged, run).popitem()[1])


def rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """The rows of `name`.jsonl.gz."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


if __name__ == "__main__":
    main()
