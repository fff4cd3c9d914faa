"""`laya gate`: fit a gate on labelled queries, and measure how far its probabilities hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from laya_rag.cli.finding import (
    DEFAULT_BUNDLE,
    AllTenantsOption,
    BundleOption,
    DepthOption,
    JsonOption,
    LegOption,
    MinTrustOption,
    TenantOption,
)
from laya_rag.cli.output import console, print_json

from laya_eval.cli.errors import reporting_eval_errors
from laya_eval.cli.progress import counting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from laya_signals.decide.base import DecisionModel

    from laya_eval.gate.evidence import EvidencePipeline, EvidenceSettings
    from laya_eval.gate.fit import GateFit
    from laya_eval.gate.labels import Labels
    from laya_eval.gate.scorecard import Scorecard

app = typer.Typer(
    name="gate",
    help="Fit a gate on labelled queries, and measure how far its probabilities hold.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

#: The options that decide which candidates a query gets.
SEARCH = "--depth, --candidates, --leg, --min-trust; with relevances also --model, --relevance"

LabelsOption = Annotated[
    Path,
    typer.Option(
        "--labels", "-l", help="Labelled queries: a file of JSON lines, or a BEIR folder."
    ),
]
CandidatesOption = Annotated[int, typer.Option(help="Fused candidates that the gate reads.", min=1)]
ModelOption = Annotated[
    str, typer.Option(help="Decision model: a provider's name, or its block as JSON.")
]
RelevanceOption = Annotated[
    float,
    typer.Option(
        help="Probability from which a passage is relevant to the decision model.", min=0, max=1
    ),
]
AnswerabilityOption = Annotated[
    float, typer.Option(help="Probability from which the evidence answers.", min=0, max=1)
]
KeepOption = Annotated[
    int,
    typer.Option(
        "--keep", "-k", help="Passages of evidence that the decision model is shown.", min=1
    ),
]
GateOption = Annotated[
    Path | None,
    typer.Option(
        help="A fitted gate (gate.json); without it, the decision model judges.",
        exists=True,
        dir_okay=False,
    ),
]
ResamplesOption = Annotated[
    int, typer.Option(help="Bootstrap resamples behind each interval.", min=1)
]
SeedOption = Annotated[int, typer.Option(help="Seed of the folds and the bootstrap.", min=0)]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


@app.command()
@reporting_eval_errors
def fit(
    labels: LabelsOption,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Save the fitted gate here.", dir_okay=False)
    ],
    bundle: BundleOption = DEFAULT_BUNDLE,
    report: Annotated[
        Path | None,
        typer.Option(help="Also write the report with its plots to this folder.", file_okay=False),
    ] = None,
    with_model: Annotated[
        bool,
        typer.Option(
            "--with-model", help="Let the decision model sift first, and use its relevances too."
        ),
    ] = False,
    model: ModelOption = "decision.mini",
    relevance: RelevanceOption = 0.5,
    answerability: AnswerabilityOption = 0.5,
    l2: Annotated[float, typer.Option("--l2", help="Penalty on the weights; above 0.")] = 1.0,
    folds: Annotated[int, typer.Option(help="Folds of the random split.", min=2)] = 5,
    candidates: CandidatesOption = 20,
    depth: DepthOption = 100,
    leg: LegOption = None,
    tenant: TenantOption = None,
    all_tenants: AllTenantsOption = False,
    min_trust: MinTrustOption = "untrusted",
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Fit a feature gate on labelled queries, and save it.

    Every query is searched for in the bundle, the features of its candidates are computed, and a
    logistic model is fitted on all of them. What is reported is out of fold, by models that had not
    seen the query: once with queries dealt into folds at random, once with each group held out
    whole. Expect the second on a kind of question that the labels do not have.

    Examples:
        laya gate fit --bundle .laya/default --labels labels.jsonl --out gate.json

        laya gate fit --labels labels.jsonl --out gate.json --with-model --report gate-report

    """
    from laya_retrieval.gate.features import FEATURES, RETRIEVAL_FEATURES

    from laya_eval.gate.fit import fit_gate, tabulate
    from laya_eval.gate.labels import load_labels
    from laya_eval.gate.report import write_report

    if not out.parent.is_dir():
        raise typer.BadParameter(f"--out: there is no folder {str(out.parent)!r}")
    known = load_labels(labels)
    settings = _settings(depth, candidates, leg, min_trust, tenant, all_tenants)
    pipeline = _pipeline(bundle, settings, (model, relevance) if with_model else None)
    names = tuple(FEATURES) if with_model else RETRIEVAL_FEATURES
    with counting("features", len(known.queries), quiet=quiet) as advance:
        table = tabulate(known, pipeline, names, advance=advance)
    fitted = fit_gate(
        table,
        pipeline_fingerprint=pipeline.fingerprint,
        l2=l2,
        folds=folds,
        threshold=answerability,
        resamples=resamples,
        seed=seed,
    )
    fitted.model.save(out)
    facts = {
        **_facts(pipeline, labels, known),
        "gate": {
            "kind": "features",
            "fingerprint": fitted.model.fingerprint,
            "weights": dict(zip(fitted.model.features, fitted.model.weights, strict=True)),
            "l2": l2,
            "folds": folds,
        },
        "seed": seed,
        "held_out_not_measured": fitted.no_held_out,
    }
    cards = _regimes(fitted)
    if report is not None:
        write_report(report, cards, facts)
    if as_json:
        print_json({**facts, "scorecards": {name: card.as_json() for name, card in cards.items()}})
        return
    _print(cards)
    screen = console()
    if fitted.no_held_out:
        screen.print(f"Whole groups held out: not measured, {fitted.no_held_out}.", style="yellow")
    screen.print(f"Saved {out}, fitted on {fitted.model.examples} queries.")


@app.command(name="eval")
@reporting_eval_errors
def evaluate(
    labels: LabelsOption,
    bundle: BundleOption = DEFAULT_BUNDLE,
    gate: GateOption = None,
    model: ModelOption = "decision.mini",
    relevance: RelevanceOption = 0.5,
    answerability: AnswerabilityOption = 0.5,
    keep: KeepOption = 5,
    candidates: CandidatesOption = 20,
    depth: DepthOption = 100,
    leg: LegOption = None,
    tenant: TenantOption = None,
    all_tenants: AllTenantsOption = False,
    min_trust: MinTrustOption = "untrusted",
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure a gate on labelled queries: ROC-AUC, accuracy, ECE, Brier, risk and coverage.

    Without --gate, the decision model judges as in `laya ask`. A fitted gate has to be given labels
    that it was not fitted on, and the search settings that it was fitted with; another pipeline's
    candidates are refused.

    Examples:
        laya gate eval --labels labels.jsonl

        laya gate eval --labels new-labels.jsonl --gate gate.json --json

    """
    settings = _settings(depth, candidates, leg, min_trust, tenant, all_tenants)
    card, facts = _judge(
        bundle,
        labels,
        settings,
        gate=gate,
        model=model,
        relevance=relevance,
        answerability=answerability,
        keep=keep,
        resamples=resamples,
        seed=seed,
        quiet=quiet,
    )
    if as_json:
        print_json({**facts, "scorecards": {"Gate": card.as_json()}})
    else:
        _print({"Gate": card})


@app.command()
@reporting_eval_errors
def report(
    labels: LabelsOption,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Write the report to this folder.", file_okay=False)
    ],
    bundle: BundleOption = DEFAULT_BUNDLE,
    gate: GateOption = None,
    model: ModelOption = "decision.mini",
    relevance: RelevanceOption = 0.5,
    answerability: AnswerabilityOption = 0.5,
    keep: KeepOption = 5,
    candidates: CandidatesOption = 20,
    depth: DepthOption = 100,
    leg: LegOption = None,
    tenant: TenantOption = None,
    all_tenants: AllTenantsOption = False,
    min_trust: MinTrustOption = "untrusted",
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure a gate as `laya gate eval` does, and write a report with plots.

    The folder gets `report.md`, `report.json` with every query's probability, a reliability diagram
    and a risk–coverage curve, both SVG.

    Examples:
        laya gate report --labels labels.jsonl --out gate-report

        laya gate report --labels new-labels.jsonl --gate gate.json --out gate-report

    """
    from laya_eval.gate.report import write_report

    settings = _settings(depth, candidates, leg, min_trust, tenant, all_tenants)
    card, facts = _judge(
        bundle,
        labels,
        settings,
        gate=gate,
        model=model,
        relevance=relevance,
        answerability=answerability,
        keep=keep,
        resamples=resamples,
        seed=seed,
        quiet=quiet,
    )
    write_report(out, {"Gate": card}, facts)
    if as_json:
        print_json({**facts, "scorecards": {"Gate": card.as_json()}, "report": str(out)})
        return
    _print({"Gate": card})
    console().print(f"Wrote {out / 'report.md'}.")


def decision_model(provider: str) -> DecisionModel:
    """The model that a name or a JSON block stands for."""
    import json

    from laya_signals.decide.base import DecisionModel
    from laya_signals.registry import signals

    block: Any = {"provider": provider}
    if provider.lstrip().startswith("{"):
        try:
            block = json.loads(provider)
        except ValueError as error:
            raise typer.BadParameter(f"--model is no JSON: {error}") from error
    return signals.resolve(block, DecisionModel)


def _settings(
    depth: int,
    candidates: int,
    legs: list[str] | None,
    min_trust: str,
    tenants: list[str] | None,
    all_tenants: bool,
) -> EvidenceSettings:
    from laya_eval.gate.evidence import EvidenceSettings

    return EvidenceSettings(
        depth=depth,
        candidates=candidates,
        legs=tuple(legs) if legs else None,
        min_trust=min_trust,
        tenants=tuple(tenants or ()),
        all_tenants=all_tenants,
    )


def _pipeline(
    bundle: Path, settings: EvidenceSettings, sift: tuple[str, float] | None
) -> EvidencePipeline:
    from laya_rag.backend.bundle import BundleBackend
    from laya_retrieval.gate.laya import LayaGate

    from laya_eval.gate.evidence import EvidencePipeline

    relevance = None
    if sift is not None:
        relevance = LayaGate(model=decision_model(sift[0]), relevance_threshold=sift[1])
    return EvidencePipeline(BundleBackend(bundle), settings, relevance=relevance)


def _judge(
    bundle: Path,
    labels: Path,
    settings: EvidenceSettings,
    *,
    gate: Path | None,
    model: str,
    relevance: float,
    answerability: float,
    keep: int,
    resamples: int,
    seed: int,
    quiet: bool,
) -> tuple[Scorecard, dict[str, Any]]:
    from laya_retrieval.errors import GateError
    from laya_retrieval.gate.features import FeatureGate, FeatureModel
    from laya_retrieval.gate.laya import LayaGate

    from laya_eval.gate.labels import load_labels
    from laya_eval.gate.prediction import predict
    from laya_eval.gate.scorecard import scorecard

    known = load_labels(labels)
    judge: LayaGate | FeatureGate
    if gate is None:
        pipeline = _pipeline(bundle, settings, None)
        judge = LayaGate(
            model=decision_model(model),
            relevance_threshold=relevance,
            answerability_threshold=answerability,
            evidence_top_k=keep,
        )
        kind = "decision model"
    else:
        fitted = FeatureModel.load(gate)
        sifts = any("relevance" in name for name in fitted.features)
        pipeline = _pipeline(bundle, settings, (model, relevance) if sifts else None)
        try:
            judge = FeatureGate(
                model=fitted,
                pipeline_fingerprint=pipeline.fingerprint,
                answerability_threshold=answerability,
            )
        except GateError as error:
            raise GateError(f"{error}, or search as it was fitted: {SEARCH}") from error
        kind = "features"
    with counting("judging", len(known.queries), quiet=quiet) as advance:
        predictions = predict(known, pipeline, judge, advance=advance)
    card = scorecard(predictions, threshold=answerability, resamples=resamples, seed=seed)
    facts = {
        **_facts(pipeline, labels, known),
        "gate": {"kind": kind, "fingerprint": judge.fingerprint},
        "seed": seed,
    }
    return card, facts


def _facts(pipeline: EvidencePipeline, path: Path, labels: Labels) -> dict[str, Any]:
    manifest = pipeline.backend.manifest
    groups = labels.groups
    return {
        "bundle": {
            "path": str(pipeline.backend.path),
            "stack": manifest.stack.name,
            "stack_hash": manifest.stack.hash,
            "documents": manifest.counts.documents,
            "chunks": manifest.counts.chunks,
        },
        "labels": {
            "path": str(path),
            "fingerprint": labels.fingerprint,
            "queries": len(labels.queries),
            "answerable": labels.answerable,
            "groups": None if groups is None else len(set(groups)),
        },
        "pipeline": {"fingerprint": pipeline.fingerprint, **pipeline.description},
    }


def _regimes(fitted: GateFit) -> dict[str, Scorecard]:
    cards = {"Random folds": fitted.random}
    if fitted.held_out is not None:
        cards["Whole groups held out"] = fitted.held_out
    return cards


def _print(cards: Mapping[str, Scorecard]) -> None:
    from rich.table import Table

    from laya_eval.gate.report import MEASURES, figures, membership

    screen = console()
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("measure", no_wrap=True)
    for name in cards:
        table.add_column(name, justify="right")
        table.add_column("95% interval", style="dim")
    for key, (title, _) in MEASURES.items():
        cells = [cell for card in cards.values() for cell in figures(card.measures[key])]
        table.add_row(title, *cells)
    screen.print(table)
    first = next(iter(cards.values()))
    screen.print(membership(first), style="dim")
