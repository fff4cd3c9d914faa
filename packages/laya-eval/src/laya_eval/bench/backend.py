"""The bundle backend: how fast it searches, what memory it takes, how much approximation misses.

    python -m laya_eval.bench.backend speed  --chunks 26000
    python -m laya_eval.bench.backend memory --chunks 10000 200000
    python -m laya_eval.bench.backend recall --chunks 200000

Synthetic corpora (see `laya_eval.bench.synthetic`) are built in `--folder` and kept there; with
`--bundle` a bundle of one's own is measured instead, with the questions in `--queries`, one a line.
Times are wall clock and, beside it, what the processors of this process spent: on a machine that
does other work at the same time the two differ. Memory is that of a process of its own after it
answered all queries: `RssAnon` is what the kernel cannot take back, `RssFile` what is mapped from
files, whose pages it can drop and other processes share.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from laya_index.process import process
from laya_index.stack import parse_stack
from laya_rag.access import Access
from laya_rag.backend.bundle import BundleBackend
from laya_rag.backend.view import BundleView
from laya_retrieval.fuse.rrf import RrfFuser
from laya_retrieval.retrieve.pipeline import OrchestrationPipeline, retrieve
from laya_signals.encode.mini import MiniEncoder

from laya_eval.bench import synthetic

T = TypeVar("T")

DEPTH = 20
_STATUS = Path("/proc/self/status")


def build(folder: Path, documents: int) -> Path:
    """The bundle of a synthetic corpus in `folder`, made unless it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus, bundle = folder / "corpus.jsonl", folder / "bundle"
    if not (bundle / "manifest.json").exists():
        synthetic.write_corpus(corpus, documents)
        stack = {
            "name": "synthetic",
            "source": {"provider": "source.jsonl", "config": {"path": str(corpus)}},
            "chunk": {"provider": "chunker.document"},
            "signals": {
                "bm25": {"provider": "tokenizer.whitespace"},
                "embedding": {"provider": synthetic.ENCODER},
            },
            "export": {"path": str(bundle)},
        }
        process(parse_stack(json.dumps(stack)))
    return bundle


def timed(name: str, calls: Sequence[T], run: Callable[[T], object]) -> str:
    """A line with the median and the 95th percentile of `run` over `calls`, in milliseconds."""
    for call in calls[:10]:
        run(call)
    wall, spent = [], []
    for call in calls:
        started, before = time.perf_counter(), time.process_time()
        run(call)
        wall.append(1e3 * (time.perf_counter() - started))
        spent.append(1e3 * (time.process_time() - before))
    return (
        f"{name:<24} p50 {np.median(wall):7.2f} ms  p95 {np.percentile(wall, 95):7.2f} ms   "
        f"processor p50 {np.median(spent):6.2f} ms"
    )


def speed(view: BundleView, texts: Sequence[str]) -> list[str]:
    """Search with every leg, and each leg alone; encoding a query with `encoder.mini`."""
    queries = [view.query(text, depth=DEPTH) for text in texts]
    pipeline = OrchestrationPipeline(fuser=RrfFuser(explain=True), final_top_k=5)
    lines = [
        timed("search and fuse", queries, lambda query: retrieve(query, view, pipeline)),
        timed("search", queries, view.search),
    ]
    for leg in queries[0].legs(view.capabilities):
        alone = [view.query(text, depth=DEPTH, modes=[leg]) for text in texts]
        lines.append(timed(leg, alone, view.search))
    encoder = MiniEncoder()
    lines.append(timed("encode with encoder.mini", texts, lambda t: encoder.encode_queries([t])))
    return lines


def recall(bundle: Path, texts: Sequence[str], depths: Sequence[int] = (10, 20, 100)) -> list[str]:
    """What approximate search finds of the best that exact search finds, and both times."""
    backends = [BundleBackend(bundle, approximate=value) for value in (False, True)]
    exact, approximate = (b.view(Access(all_tenants=True)) for b in backends)
    lines = []
    for depth in depths:
        queries = [exact.query(text, depth=depth, modes=["dense"]) for text in texts]
        hits = total = 0
        for query in queries:
            best = {c.id for c in exact.search(query)["dense"]}
            hits += len(best & {c.id for c in approximate.search(query)["dense"]})
            total += len(best)
        lines.append(f"recall@{depth:<4} {hits / total:.4f}  over {len(queries)} queries")
        lines.append(timed(f"exact, depth {depth}", queries, exact.search))
        lines.append(timed(f"approximate, depth {depth}", queries, approximate.search))
    return lines


def probe(bundle: Path, texts: Sequence[str]) -> dict[str, int]:
    """The resident memory of this process in kB, by kind, once it has answered every query."""
    view = BundleBackend(bundle).view(Access(all_tenants=True))
    for text in texts:
        view.search(view.query(text, depth=DEPTH))
    fields = (line.split() for line in _STATUS.read_text(encoding="utf-8").splitlines())
    return {field[0].rstrip(":"): int(field[1]) for field in fields if field[0].startswith("Rss")}


def memory(bundles: Sequence[Path], texts: Path) -> list[str]:
    """The resident memory of a process for each bundle, and how much it grows."""
    lines = []
    anonymous: list[int] = []
    total: list[int] = []
    for bundle in bundles:
        BundleBackend(bundle).close()  # the arrays are made here, not in the process measured
        command = [sys.executable, "-m", __spec__.name, "probe", "--bundle", str(bundle)]
        output = subprocess.run(  # noqa: S603 - ourselves
            [*command, "--queries", str(texts)], check=True, capture_output=True, text=True
        ).stdout
        found = json.loads(output)
        anonymous.append(found["RssAnon"])
        total.append(sum(found.values()))
        parts = ", ".join(f"{name} {kilobytes / 1024:.1f} MiB" for name, kilobytes in found.items())
        lines.append(f"{bundle}: {parts}")
    for name, values in (("RssAnon", anonymous), ("all resident", total)):
        lines.append(f"{name} grows by {100 * (values[-1] / values[0] - 1):+.1f} %")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one measurement and print its lines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "memory", "recall", "probe"])
    parser.add_argument("--chunks", type=int, nargs="+", default=[26_000])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "laya-bench")
    parser.add_argument("--bundle", type=Path)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--count", type=int, default=200)
    options = parser.parse_args(arguments)
    folders = [options.folder / str(chunks) for chunks in options.chunks]
    if options.bundle is not None:
        bundles = [options.bundle]
    else:
        built = zip(folders, options.chunks, strict=True)
        bundles = [build(folder, chunks) for folder, chunks in built]
    if options.queries is not None:
        texts = options.queries.read_text(encoding="utf-8").splitlines()[: options.count]
    else:
        texts = synthetic.queries(folders[0] / "corpus.jsonl", options.count)
    if options.what == "probe":
        lines = [json.dumps(probe(bundles[0], texts))]
    elif options.what == "memory":
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt") as file:
            file.write("\n".join(texts))
            file.flush()
            lines = memory(bundles, Path(file.name))
    elif options.what == "recall":
        lines = recall(bundles[0], texts)
    else:
        lines = speed(BundleBackend(bundles[0]).view(Access(all_tenants=True)), texts)
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
