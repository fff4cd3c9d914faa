"""A gate's report as a folder: Markdown, JSON with every prediction, and plots."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from laya_eval.gate.scorecard import RISK, Estimate, Scorecard
from laya_eval.plot.reliability import reliability_svg
from laya_eval.plot.risk_coverage import risk_coverage_svg

#: What each measure is called, and how to read it.
MEASURES: Mapping[str, tuple[str, str]] = {
    "roc_auc": ("ROC-AUC", "1 tells them apart, .5 is guessing"),
    "accuracy": ("Accuracy", "share of verdicts at the threshold that are right"),
    "ece": ("ECE, 15 bins", "0 is calibrated"),
    "brier": ("Brier score", "0 is best, always saying .5 gives .25"),
    "aurc": ("AURC", "mean risk over all coverages, lower is better"),
    "coverage_at_risk": (f"Coverage at risk {RISK:.2f}", "share that can be answered"),
}


def write_report(folder: Path, cards: Mapping[str, Scorecard], facts: Mapping[str, Any]) -> None:
    """Write `report.md`, `report.json` and two plots for each named scorecard into `folder`.

    `facts` says what was measured, as JSON: bundle, labels, pipeline, gate. The same input gives
    the same bytes. Raises `OSError` when the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    data = {
        **facts,
        "scorecards": {
            name: {**card.as_json(), "predictions": predictions_json(card)}
            for name, card in cards.items()
        },
    }
    _write(folder / "report.json", json.dumps(data, ensure_ascii=False, indent=1) + "\n")
    sections: list[str] = []
    for name, card in cards.items():
        stem = "".join(c if c.isalnum() else "-" for c in name.lower())
        plots: list[str] = []
        if card.bins:
            _write(folder / f"{stem}-reliability.svg", reliability_svg(card.bins, title=name))
            plots.append(f"![Reliability diagram]({stem}-reliability.svg)")
        area = card.measures["aurc"].value
        if area is not None:
            plot = risk_coverage_svg(card.curve, area=area, title=name, threshold=card.threshold)
            _write(folder / f"{stem}-risk-coverage.svg", plot)
            plots.append(f"![Risk–coverage curve]({stem}-risk-coverage.svg)")
        sections.append(_section(name, card, plots))
    described = json.dumps(facts, ensure_ascii=False, indent=1)
    page = ["# Gate report", *sections, f"## What was measured\n\n```json\n{described}\n```"]
    _write(folder / "report.md", "\n\n".join(page) + "\n")


def predictions_json(card: Scorecard) -> list[dict[str, Any]]:
    """Every query that the measures average over, with its probability."""
    return [
        {
            "id": prediction.label.id,
            "query": prediction.label.query,
            "group": prediction.label.group,
            "answerable": prediction.label.answerable,
            "probability": prediction.probability,
            "found": prediction.found,
        }
        for prediction in card.predictions
    ]


def figures(estimate: Estimate) -> tuple[str, str]:
    """A measure and its interval in words."""
    if estimate.value is None:
        return "not defined", ""
    interval = estimate.interval
    return (
        f"{estimate.value:.3f}",
        "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}",
    )


def membership(card: Scorecard) -> str:
    """What the measures average over, in one sentence."""
    said = f"{card.queries} queries, {card.answerable} of them answerable"
    if card.unreached:
        said += f"; for {card.unreached} the gate was not reached and counts as refusing"
    if card.evidence_recall is not None:
        said += f"; retrieval found a relevant document for {card.evidence_recall:.1%} of those"
        said += " answerable"
    return said + "."


def _section(name: str, card: Scorecard, plots: list[str]) -> str:
    rows = ["| measure | value | 95% interval | how to read it |", "|---|---|---|---|"]
    for key, (title, reading) in MEASURES.items():
        value, interval = figures(card.measures[key])
        rows.append(f"| {title} | {value} | {interval} | {reading} |")
    base = 1 - card.answerable / card.queries
    notes = (
        f"Threshold {card.threshold:.2f}. Answering everything has risk {base:.3f}, which is also "
        f"the AURC of guessing; the best order reaches {card.best_aurc:.3f}. Intervals are "
        "bootstrapped over queries."
    )
    return "\n\n".join([f"## {name}", membership(card), "\n".join(rows), notes, *plots])


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
