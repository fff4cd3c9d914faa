"""How well fixed-dimensional encodings follow exact MaxSim, as a function of their width.

`python -m laya_eval.study.fde DATA` encodes the passages of a BEIR folder and its judged queries
with `multivector.encoder`, scores every pair exactly (MaxSim) and by the dot product of its
encodings, and prints for each setting:

* the rank correlation (Spearman) of the two over all passages, mean over queries;
* how many of MaxSim's ten best passages are among the encoding's `--depth` best, mean over queries;

each with a bootstrap interval over queries. `--svg FILE` draws the second against the width.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log2
from pathlib import Path

import numpy as np
from laya_index.document import SourceDocument
from laya_index.source.jsonl import JsonlSource
from laya_signals.fde import MuveraFde
from laya_signals.multivector.encoder import EncoderMultiVectorEncoder
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from laya_eval.beir import load_judged
from laya_eval.bootstrap import RESAMPLES, mean_interval
from laya_eval.plot.frame import Frame, label, pixel

#: `(k_sim, projection)` of each line of the plot, and the repetitions along it.
FAMILIES = ((2, 16), (2, 64), (4, 16), (4, 64))
REPETITIONS = (5, 10, 20, 40)
TOP = 10


@dataclass(frozen=True, slots=True)
class Row:
    """One setting: per-query figures `(queries,)`."""

    repetitions: int
    k_sim: int
    projection: int
    width: int
    correlation: NDArray[np.float64]
    recall: NDArray[np.float64]


def spearman(left: NDArray[np.floating], right: NDArray[np.floating]) -> float:
    """The rank correlation of two score lists `(n,)`; ties take their mean rank.

    Spearman, American Journal of Psychology 15 (1904). NaN where one list is constant.
    """
    ranks = [_ranks(scores) for scores in (left, right)]
    centred = [rank - rank.mean() for rank in ranks]
    scale = np.sqrt((centred[0] ** 2).sum() * (centred[1] ** 2).sum())
    return float(centred[0] @ centred[1] / scale) if scale else float("nan")


def _ranks(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    means: NDArray[np.float64] = (last - (counts - 1) / 2)[inverse]
    return means


def recalled(exact: NDArray[np.floating], approximate: NDArray[np.floating], depth: int) -> float:
    """The share of the ten best by `exact` among the `depth` best by `approximate`."""
    best = np.argsort(-exact, kind="stable")[:TOP]
    found = np.argsort(-approximate, kind="stable")[:depth]
    return float(np.isin(best, found).mean())


def measure(
    queries: Sequence[NDArray[np.float32]],
    passages: Sequence[NDArray[np.float32]],
    exact: NDArray[np.float32],
    fde: MuveraFde,
    depth: int,
) -> Row:
    """Compare the encodings of `fde` with `exact` `(queries, passages)`."""
    documents = np.stack([fde.encode_document(tokens) for tokens in passages])
    asked = np.stack([fde.encode_query(tokens) for tokens in queries])
    scores = asked @ documents.T
    pairs = list(zip(exact, scores, strict=True))
    config = fde.config
    return Row(
        repetitions=config.repetitions,
        k_sim=config.k_sim,
        projection=config.inner(passages[0].shape[1]),
        width=documents.shape[1],
        correlation=np.array([spearman(true, guess) for true, guess in pairs]),
        recall=np.array([recalled(true, guess, depth) for true, guess in pairs]),
    )


def exact_scores(
    queries: Sequence[NDArray[np.float32]],
    passages: Sequence[NDArray[np.float32]],
    progress: Callable[[Sequence[NDArray[np.float32]]], Sequence[NDArray[np.float32]]] = list,
) -> NDArray[np.float32]:
    """MaxSim of every pair, `(queries, passages)`: one product per query over all tokens."""
    tokens = np.concatenate(passages)
    starts = np.cumsum([0, *(len(passage) for passage in passages[:-1])])
    rows = [
        np.maximum.reduceat(query @ tokens.T, starts, axis=1).sum(axis=0)
        for query in progress(queries)
    ]
    return np.stack(rows).astype(np.float32)


def plot(rows: Sequence[Row], depth: int) -> str:
    """Recall against width, a line for each `(k_sim, projection)`."""
    frame = Frame()
    low, high = (log2(end(row.width for row in rows)) for end in (min, max))

    def place(width: float) -> float:
        return (log2(width) - low) / (high - low)

    powers = range(ceil(low), int(high) + 1)
    parts = [label("64", "28", "FDE against exact MaxSim", style="title")]
    parts += frame.axes(
        "width of the encoding (components)",
        f"MaxSim's ten best among the encoding's {depth} best",
        [(place(2.0**power), str(2**power)) for power in powers],
    )
    said = []
    for k_sim, projection in sorted({(row.k_sim, row.projection) for row in rows}):
        line = sorted(
            (row for row in rows if (row.k_sim, row.projection) == (k_sim, projection)),
            key=lambda row: row.width,
        )
        points = [(frame.x(place(row.width)), frame.y(float(row.recall.mean()))) for row in line]
        parts.append(f'<path class="line" d="M{"L".join(f"{x} {y}" for x, y in points)}"/>')
        parts += [f'<circle class="mark" cx="{x}" cy="{y}" r="4"/>' for x, y in points]
        x, y = points[0]
        name = f"k_sim {k_sim}, projection {projection}"
        parts.append(label(pixel(float(x) + 6), pixel(float(y) + 16), name))
        said += [f"{name}, width {row.width}: {row.recall.mean():.3f}" for row in line]
    return frame.document("FDE against exact MaxSim", "; ".join(said) + ".", parts)


def _interval(values: NDArray[np.float64]) -> str:
    interval = mean_interval(values, resamples=RESAMPLES)
    return f"{values.mean():.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a Markdown row per setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path, help="a BEIR folder")
    parser.add_argument("--queries", type=int, default=300, help="judged queries at most")
    parser.add_argument("--documents", type=int, default=100_000, help="passages at most")
    parser.add_argument("--depth", type=int, default=100, help="candidates by encoding")
    parser.add_argument("--svg", type=Path, help="draw recall against width into this file")
    options = parser.parse_args(arguments)
    names = ("corpus.jsonl", "corpus.jsonl.gz")
    corpus = next(options.data / name for name in names if (options.data / name).exists())
    read = JsonlSource(path=corpus).read()
    documents = sorted(
        (item for item in read if isinstance(item, SourceDocument)), key=lambda item: item.id
    )
    texts = [f"{item.title}\n{item.text}" for item in documents]
    asked = sorted(load_judged(options.data).queries.items())[: options.queries]
    encoder = EncoderMultiVectorEncoder()
    passages = [
        tokens
        for text in track(
            texts[: options.documents],
            "encoding passages",
            console=Console(stderr=True),
            transient=True,
        )
        if len(tokens := encoder.encode_documents([text])[0])
    ]
    queries = [encoder.encode_query(text) for _, text in asked]
    exact = exact_scores(
        queries,
        passages,
        lambda items: list(
            track(items, "exact MaxSim", console=Console(stderr=True), transient=True)
        ),
    )
    write = sys.stdout.write
    write(
        f"{len(queries)} queries, {len(passages)} passages, "
        f"{sum(map(len, passages)) / len(passages):.0f} tokens a passage\n\n"
        "| repetitions | k_sim | projection | width | rank correlation "
        f"| ten best in {options.depth} |\n|---|---|---|---|---|---|\n"
    )
    rows = []
    settings = [(r, k, p) for k, p in FAMILIES for r in REPETITIONS]
    for repetitions, k_sim, projection in track(
        settings, "encodings", console=Console(stderr=True), transient=True
    ):
        fde = MuveraFde(repetitions=repetitions, k_sim=k_sim, projection=projection)
        row = measure(queries, passages, exact, fde, options.depth)
        rows.append(row)
        write(
            f"| {repetitions} | {k_sim} | {projection} | {row.width:,} "
            f"| {_interval(row.correlation)} | {_interval(row.recall)} |\n"
        )
        sys.stdout.flush()
    if options.svg is not None:
        options.svg.write_text(plot(rows, options.depth), encoding="utf-8")


if __name__ == "__main__":
    main()
