"""The example of docs/gates.md: a feature gate on SQuAD 2.0, half of its articles and all.

`python -m laya_eval.study.squad_gate DATA --out DIR` makes the labels of `laya_eval.gate.squad`,
indexes both corpora, fits a gate on each, and prints the figures of questions that the fit had not
seen. With `--write PAGE` they replace what is between the markers of that page.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from laya_index.process import process
from laya_index.stack import load_stack
from laya_rag.backend.bundle import BundleBackend
from laya_rag.cli.output import console
from laya_rag.cli.progress import Lines
from laya_retrieval.gate.features import RETRIEVAL_FEATURES

from laya_eval.bootstrap import RESAMPLES
from laya_eval.cli.progress import counting
from laya_eval.gate.evidence import EvidencePipeline
from laya_eval.gate.fit import GateFit, fit_gate, tabulate
from laya_eval.gate.labels import Labels, load_labels
from laya_eval.gate.scorecard import Estimate, Scorecard
from laya_eval.gate.squad import make_labels
from laya_eval.heavy import heavy_job
from laya_eval.markdown import markdown_table
from laya_eval.page import check_page, write_page

#: Whose table a page's markers hold.
COMMAND = "laya_eval.study.squad_gate"
HEADING = (
    "labels",
    "split",
    "ROC-AUC",
    "accuracy",
    "ECE",
    "Brier",
    "AURC (guessing)",
    "coverage at risk .10",
)


def fitted(
    stack: Path, corpus: Path, labels: Path, out: Path, resamples: int
) -> tuple[Labels, GateFit]:
    """The gate on a corpus file and labels; the bundle goes into folder `out`."""
    with Lines(console(stderr=True), out.name) as progress:
        sets = [f"source.path={json.dumps(str(corpus))}"]
        process(load_stack(stack, sets=sets, out=out), progress=progress)
    known = load_labels(labels)
    pipeline = EvidencePipeline(BundleBackend(out))
    with counting(f"features: {out.name}", len(known.queries)) as advance:
        table = tabulate(known, pipeline, RETRIEVAL_FEATURES, advance=advance)
    return known, fit_gate(table, pipeline_fingerprint=pipeline.fingerprint, resamples=resamples)


def table(fits: Iterable[tuple[str, Labels, GateFit]]) -> str:
    """A Markdown table with a row for each set of labels and split."""
    rows: list[Sequence[str]] = [HEADING]
    for name, labels, fit in fits:
        said = f"{name}: {len(labels.queries):,} questions, {labels.answerable:,} answerable"
        rows.append([said, "random", *_figures(fit.random)])
        if fit.held_out is not None:
            rows.append(["", "whole articles held out", *_figures(fit.held_out)])
    return markdown_table(rows) + "\n"


def _figures(card: Scorecard) -> list[str]:
    measures = card.measures
    area = measures["roc_auc"]
    interval = "" if area.interval is None else _interval(area.interval.low, area.interval.high)
    guessing = _digits(1 - card.answerable / card.queries)
    return [
        _digits(area.value) + interval,
        *(_value(measures[name]) for name in ("accuracy", "ece", "brier")),
        f"{_value(measures['aurc'])} ({guessing})",
        _value(measures["coverage_at_risk"]),
    ]


def _value(estimate: Estimate) -> str:
    return _digits(estimate.value)


def _interval(low: float, high: float) -> str:
    return f" ({_digits(low)}–{_digits(high)})"


def _digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".replace("0.", ".", 1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path, help="SQuAD's folder: corpus, pairs, queries, qrels")
    parser.add_argument("--out", type=Path, required=True, help="folder for labels and bundles")
    parser.add_argument("--stack", type=Path, default=Path("stacks/models/beir.yaml"))
    parser.add_argument("--resamples", type=int, default=RESAMPLES, help="behind each interval")
    parser.add_argument("--write", type=Path, help="the page whose table is replaced")
    options = parser.parse_args(arguments)
    if options.write is not None:
        check_page(options.write, COMMAND)
    make_labels(options.data, options.out)
    sets = (
        ("half", options.out / "half-corpus.jsonl", options.out / "half-labels.jsonl"),
        ("all", options.data / "corpus.jsonl.gz", options.out / "labels.jsonl"),
    )
    with heavy_job(f"python -m {COMMAND}"):
        fits = [
            (name, *fitted(options.stack, corpus, labels, options.out / name, options.resamples))
            for name, corpus, labels in sets
        ]
    text = table(fits)
    if options.write is None:
        sys.stdout.write(text)
    else:
        write_page(options.write, text, COMMAND)


if __name__ == "__main__":
    main()
