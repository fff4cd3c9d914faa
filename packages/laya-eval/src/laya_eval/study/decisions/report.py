"""The study as files: Markdown, JSON with every question's probabilities, plots."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from laya_eval.comparison import Comparison
from laya_eval.gate.report import predictions_json
from laya_eval.gate.scorecard import Estimate
from laya_eval.markdown import markdown_table
from laya_eval.plot.reliability import reliability_svg
from laya_eval.plot.risk_curves import risk_curves_svg
from laya_eval.retrieval.report import slug
from laya_eval.risk import RiskCoverage
from laya_eval.study.decisions.data import DATA_SETS
from laya_eval.study.decisions.measuring import (
    ALWAYS,
    AS_IT_IS,
    BM25,
    DENSE,
    FEATURE,
    GATES,
    GROUPS,
    LAYA,
    RANDOM,
    RECALIBRATED,
    SCORES,
    SIFTED,
    Card,
)
from laya_eval.study.decisions.settings import COMPARED_AT, COVERAGES, StudySettings
from laya_eval.study.decisions.study import CorpusResult, PairResult, StudyResult, capped

SCHEMA_VERSION = 1
REPORT = "report.json"
ANSWERED = ("answered at .5", "wrong of those")
#: Which line of a plot or a table of abstention a gate is, and the split that it shows.
SHOWN = (
    (LAYA, AS_IT_IS),
    (FEATURE, GROUPS),
    (SIFTED, GROUPS),
    (BM25, GROUPS),
    (DENSE, GROUPS),
)


def report_data(result: StudyResult) -> dict[str, Any]:
    """The whole report as JSON."""
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "decisions",
        "command": command(result.settings),
        "fingerprint": result.fingerprint,
        "configuration": result.configuration,
        "data": {"sha256": result.hashes},
        "pairs": [
            {
                **_facts(one),
                "cards": [_card_json(card) for card in one.outcome.cards],
                "unmeasured": one.outcome.unmeasured,
            }
            for one in result.pairs
        ],
        "corpora": [
            {
                **_facts(one),
                "documents": len(one.corpus.documents),
                "chunks": one.chunks,
                "sha256": one.sha256,
                "fitted": len(one.corpus.labels),
                "ambiguous": one.corpus.ambiguous,
                "cards": [_card_json(card) for card in one.outcome.cards],
                "unmeasured": one.outcome.unmeasured,
            }
            for one in result.corpora
        ],
        "transfers": [
            {"fitted_on": source, "measured_on": target, **_card_json(card)}
            for (source, target), card in result.transfers.items()
        ],
        "untransferred": result.untransferred,
        "comparisons": [
            {"set": name, **asdict(comparison)}
            for (name, _, _), comparison in result.comparisons.items()
        ],
    }


def study_files(result: StudyResult) -> dict[str, str]:
    """Every file of the report by name; the same input gives the same text."""
    body, plots = tables(result, "")
    facts = {
        "fingerprint": result.fingerprint,
        **result.configuration,
        "sha256": result.hashes,
    }
    described = json.dumps(facts, ensure_ascii=False, indent=1)
    page = f"# Decision study\n\n{body}\n## What was measured\n\n```json\n{described}\n```\n"
    data = json.dumps(report_data(result), ensure_ascii=False, indent=1) + "\n"
    return {**plots, "report.md": page, REPORT: data}


def tables(result: StudyResult, folder: str) -> tuple[str, dict[str, str]]:
    """The tables as Markdown with plots linked under `folder`, and the plots by name."""
    plots: dict[str, str] = {}
    sections = [f"Measured by `{command(result.settings)}`. {capped(result.settings)}"]
    if result.pairs:
        sections += ["## One text and a question", _pair_table(result.pairs)]
        cards = [(one.source.name, one.outcome.card(LAYA, AS_IT_IS)) for one in result.pairs]
        sections.append(_abstention([(name, card) for name, card in cards if card is not None]))
        sections.append(_images([_reliability(one, plots) for one in result.pairs], folder))
    if result.corpora:
        sections += ["## A search in a corpus that lacks the answer", _summary(result.corpora)]
        for one in result.corpora:
            sections += _corpus_section(one, plots, folder)
    if result.transfers or result.untransferred:
        sections += ["## The feature gate on other data", _transfer_table(result)]
        sections += [f"Not fitted on {name}: {why}." for name, why in result.untransferred.items()]
    if result.comparisons:
        sections += ["## Gates against the score of a leg", _comparison_table(result)]
    return "\n\n".join(sections) + "\n", plots


def command(settings: StudySettings) -> str:
    """What to type for the same figures, with DATA for the folder of the data."""
    usual = StudySettings()
    parts = ["laya eval decisions --data DATA"]
    parts += [f"--only {name}" for name in settings.only]
    for name in ("cap", "stack", "model", "resamples", "permutations", "seed"):
        value = getattr(settings, name)
        if value != getattr(usual, name):
            parts.append(f"--{name} {value}")
    return " ".join(parts)


def _facts(one: PairResult | CorpusResult) -> dict[str, Any]:
    return {
        "name": one.source.name,
        "folder": one.source.folder,
        "about": one.source.about,
        "trained_on_kin": DATA_SETS[one.source.folder].kin,
        "questions": len(one.outcome.labels),
        "answerable": sum(label.answerable for label in one.outcome.labels),
        "groups": len({label.group for label in one.outcome.labels}),
    }


def _card_json(card: Card) -> dict[str, Any]:
    scores = card.scores
    return {
        "gate": card.gate,
        "split": card.split,
        "measures": {name: asdict(value) for name, value in card.measures.items()},
        "bins": None if scores is None else [asdict(b) for b in scores.bins],
        "predictions": None
        if scores is None
        else [
            {**prediction, "wrong": wrong}
            for prediction, wrong in zip(predictions_json(scores), card.wrong, strict=True)
        ],
    }


def cell(card: Card, name: str, *, interval: bool = True) -> str:
    """A measure of a card in words; nothing where the card does not have it."""
    found = card.measures.get(name)
    return "" if found is None else _number(found, interval=interval)


def _number(found: Estimate, *, interval: bool = True) -> str:
    if found.value is None:
        return "–"
    if found.interval is None or not interval:
        return f"{found.value:.3f}"
    return f"{found.value:.3f} ({found.interval.low:.3f}–{found.interval.high:.3f})"


def _kin(folder: str) -> str:
    return "in" if DATA_SETS[folder].kin else "out"


def _pair_table(pairs: Sequence[PairResult]) -> str:
    rows: list[list[str]] = []
    for one in pairs:
        facts = _facts(one)
        card = one.outcome.card(LAYA, AS_IT_IS)
        if card is None:
            continue
        again = [one.outcome.card(RECALIBRATED, split) for split in (RANDOM, GROUPS)]
        rows.append(
            [
                one.source.name,
                _kin(one.source.folder),
                f"{facts['questions']} ({facts['answerable']})",
                str(facts["groups"]),
                *(cell(card, name) for name in ("roc_auc", "ece", "brier")),
                " / ".join("–" if c is None else cell(c, "ece", interval=False) for c in again),
                *(cell(card, name) for name in ("answered", "wrong_answered")),
            ]
        )
    heading = (
        "pairs",
        "domain",
        "number (answer)",
        "groups",
        "ROC-AUC",
        "ECE",
        "Brier",
        "ECE recalibrated, random / groups",
        *ANSWERED,
    )
    return markdown_table([heading, *rows])


def _summary(corpora: Sequence[CorpusResult]) -> str:
    rows: list[list[str]] = []
    for one in corpora:
        facts = _facts(one)
        always = one.outcome.card(ALWAYS, AS_IT_IS)
        rows.append(
            [
                one.source.name,
                _kin(one.source.folder),
                one.source.about,
                f"{len(one.corpus.documents):,}",
                f"{facts['questions']} ({facts['answerable']})",
                str(facts["groups"]),
                f"{len(one.corpus.labels):,}",
                "" if always is None else cell(always, "wrong@1"),
            ]
        )
    heading = (
        "corpus",
        "domain",
        "what is missing",
        "documents",
        "questions judged (answerable)",
        "groups",
        "questions to fit on",
        "wrong when all are answered",
    )
    return markdown_table([heading, *rows])


def _corpus_section(one: CorpusResult, plots: dict[str, str], folder: str) -> list[str]:
    name, outcome = one.source.name, one.outcome
    calibration = [
        [
            card.gate,
            card.split,
            *(cell(card, measure) for measure in ("roc_auc", "ece", "brier")),
            *(cell(card, measure) for measure in ("answered", "wrong_answered")),
        ]
        for card in outcome.cards
        if card.scores is not None
    ]
    heading = ("gate", "held out", "ROC-AUC", "ECE", "Brier")
    first = markdown_table([(*heading, *ANSWERED), *calibration])
    always = outcome.card(ALWAYS, AS_IT_IS)
    shown = [card for key in SHOWN if (card := outcome.card(*key)) is not None]
    second = _abstention([(card.gate, card) for card in shown], always)
    notes = [f"Not measured: {key}: {why}." for key, why in outcome.unmeasured.items()]
    if one.corpus.ambiguous:
        notes.append(f"{one.corpus.ambiguous} questions lost some of their documents: left out.")
    curves = {card.gate: card.scores.curve for card in shown if card.scores is not None}
    images = [_risk(name, curves, plots), _reliability(one, plots)]
    return [f"### {name}", first, second, *notes, _images(images, folder)]


def _abstention(rows: Sequence[tuple[str, Card]], always: Card | None = None) -> str:
    """Wrong answers per answer given, by coverage, each row under its name."""
    cells = [
        [name, *(cell(card, f"wrong@{coverage:g}") for coverage in COVERAGES), cell(card, "aurc")]
        for name, card in rows
    ]
    if always is not None:
        base = cell(always, "wrong@1")
        cells.insert(0, [ALWAYS, base, *("the same" for _ in COVERAGES[1:]), "the same"])
    coverages = [f"{coverage:.0%} answered" for coverage in COVERAGES]
    return markdown_table([("wrong answers of the answered", *coverages, "AURC"), *cells])


def _risk(name: str, curves: Mapping[str, RiskCoverage], plots: dict[str, str]) -> tuple[str, str]:
    file = f"{slug(name)}-risk-coverage.svg"
    plots[file] = risk_curves_svg(
        curves, title=name, risk="risk: share of the answers that are wrong"
    )
    return f"Risk and coverage, {name}", file


def _reliability(one: PairResult | CorpusResult, plots: dict[str, str]) -> tuple[str, str] | None:
    card = one.outcome.card(LAYA, AS_IT_IS)
    if card is None or card.scores is None or not card.scores.bins:
        return None
    kind = "pairs" if isinstance(one, PairResult) else "search"
    file = f"{slug(one.source.name)}-{kind}-reliability.svg"
    plots[file] = reliability_svg(card.scores.bins, title=f"{LAYA}, {one.source.name}")
    return f"Reliability of LayaGate, {one.source.name}", file


def _images(images: Sequence[tuple[str, str] | None], folder: str) -> str:
    return "\n".join(f"![{image[0]}]({folder}{image[1]})" for image in images if image is not None)


def _transfer_table(result: StudyResult) -> str:
    names = [one.source.name for one in result.corpora]
    rows: list[list[str]] = []
    for source in names:
        row = [source]
        for one in result.corpora:
            card = result.transfers.get((source, one.source.name))
            if one.source.name == source:
                card = one.outcome.card(FEATURE, GROUPS)
            row.append(
                "–"
                if card is None
                else f"{cell(card, 'roc_auc')} / {cell(card, 'ece', interval=False)}"
            )
        rows.append(row)
    return markdown_table([("fitted on ↓, measured on →", *names), *rows])


def _comparison_table(result: StudyResult) -> str:
    rows: list[list[str]] = []
    for one in result.corpora:
        for gate in GATES:
            cells: list[str] = []
            for score in SCORES:
                found = result.comparisons.get((one.source.name, gate, score))
                cells += ["–", "", ""] if found is None else _compared(found)
            rows.append([one.source.name, gate, *cells])
    heading = ["corpus", "gate"]
    for score in SCORES:
        heading += [f"fewer wrong than {score}", "q", "least detectable"]
    note = f"Wrong answers per answer given when {COMPARED_AT:.0%} of the questions are answered."
    return f"{note}\n\n{markdown_table([heading, *rows])}"


def _compared(found: Comparison) -> list[str]:
    interval = found.interval
    star = "*" if found.significant else ""
    least = "" if found.significant or found.detectable is None else f"{found.detectable:.3f}"
    q = "< .0001" if found.q < 1e-4 else f"{found.q:.4f}"
    return [
        f"{found.difference:+.3f} ({interval.low:+.3f} to {interval.high:+.3f})",
        q + star,
        least,
    ]
