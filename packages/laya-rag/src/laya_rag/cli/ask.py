"""`laya ask`: whether the bundle answers a question, and with which passages."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laya_rag.cli.finding import (
    DEFAULT_BUNDLE,
    AllTenantsOption,
    BundleOption,
    DepthOption,
    Found,
    JsonOption,
    LegOption,
    MinTrustOption,
    QueryArgument,
    TenantOption,
    bundle_json,
    find,
    passage_json,
    print_passage,
    withheld_note,
)
from laya_rag.cli.output import console, print_json, reporting_errors

if TYPE_CHECKING:
    from laya_retrieval.candidate import Candidate
    from laya_retrieval.gate.verdict import Verdict


@reporting_errors
def ask(
    query: QueryArgument,
    bundle: BundleOption = DEFAULT_BUNDLE,
    keep: Annotated[
        int, typer.Option("--keep", "-k", help="Passages of evidence to keep.", min=1)
    ] = 5,
    candidates: Annotated[
        int, typer.Option(help="Fused candidates that the gate reads.", min=1)
    ] = 20,
    depth: DepthOption = 20,
    leg: LegOption = None,
    relevance: Annotated[
        float, typer.Option(help="Probability from which a passage is relevant.", min=0, max=1)
    ] = 0.5,
    answerability: Annotated[
        float, typer.Option(help="Probability from which the evidence answers.", min=0, max=1)
    ] = 0.5,
    tenant: TenantOption = None,
    all_tenants: AllTenantsOption = False,
    min_trust: MinTrustOption = "untrusted",
    as_json: JsonOption = False,
) -> None:
    """Ask whether a bundle answers a question, and show the evidence.

    A decision model reads each candidate and keeps the relevant ones, then says with which
    probability they answer the question. Below the threshold the command abstains. Where no passage
    is relevant the model is not asked about the answer at all, and no probability is shown. It
    prints passages, never an answer of its own.

    Examples:
        laya ask "how does an incremental run stay byte-identical"
        laya ask "who won the cup in 1998" --json

    """
    from laya_retrieval.gate.laya import LayaGate

    found = find(
        query,
        bundle,
        keep=candidates,
        depth=depth,
        legs=leg,
        tenants=tenant,
        all_tenants=all_tenants,
        min_trust=min_trust,
    )
    started = time.perf_counter()
    gate = LayaGate(
        model={"provider": "decision.mini"},
        relevance_threshold=relevance,
        answerability_threshold=answerability,
        evidence_top_k=keep,
    )
    verdict = gate.judge(query, found.result.candidates)
    seconds = time.perf_counter() - started
    if as_json:
        print_json(_as_json(query, found, verdict, keep, seconds))
    else:
        _print(found, verdict, keep, seconds)


def _as_json(
    query: str, found: Found, verdict: Verdict, keep: int, seconds: float
) -> dict[str, Any]:
    funnel = verdict.funnel
    return {
        "query": query,
        "bundle": bundle_json(found),
        "verdict": {
            "state": verdict.state.value,
            "answerable": verdict.answerable,
            "answerability": verdict.answerability,
            "answerability_threshold": verdict.answerability_threshold,
            "relevance_threshold": verdict.relevance_threshold,
            "model": verdict.model_fingerprint,
            "questions": [dict(question) for question in verdict.questions],
        },
        "funnel": {
            "considered": funnel.considered,
            "dropped_before_scoring": funnel.dropped_before_scoring,
            "scored": funnel.scored,
            "below_relevance": funnel.below_relevance,
            "kept": funnel.kept,
        },
        "legs": list(found.result.fetched_modes),
        "removed": dict(found.result.removed),
        "evidence": [
            {**passage_json(rank, candidate), "relevance": _relevance(candidate)}
            for rank, candidate in enumerate(verdict.kept[:keep], start=1)
        ],
        "dropped": [
            {"record_id": candidate.id, "relevance": _relevance(candidate)}
            for candidate in verdict.dropped
        ],
        "seconds": {
            "open": round(found.open_seconds, 4),
            "search": round(found.search_seconds, 4),
            "gate": round(seconds, 4),
        },
    }


def _relevance(candidate: Candidate) -> float | None:
    from laya_retrieval.gate.verdict import RELEVANCE_KEY

    value: float | None = candidate.metadata.get(RELEVANCE_KEY)
    return value


def _print(found: Found, verdict: Verdict, keep: int, seconds: float) -> None:
    from rich.text import Text

    screen = console()
    line, style = _headline(verdict)
    screen.print(Text(line, style=style))
    funnel = verdict.funnel
    screen.print(
        f"{funnel.considered} candidates, {funnel.scored} read, {funnel.kept} relevant "
        f"(P ≥ {verdict.relevance_threshold:.2f}){withheld_note(found)}\n",
        style="dim",
    )
    for rank, candidate in enumerate(verdict.kept[:keep], start=1):
        print_passage(screen, f"[{rank}]", candidate, f", relevance {_relevance(candidate):.2f}")
    more = len(verdict.kept) - keep
    if more > 0:
        screen.print(f"{more} more relevant; see them with --keep {len(verdict.kept)}", style="dim")
    spent = f"search {found.search_seconds * 1000:.0f} ms, gate {seconds * 1000:.0f} ms"
    screen.print(spent, style="dim")


def _headline(verdict: Verdict) -> tuple[str, str]:
    from laya_retrieval.gate.verdict import GateState

    if verdict.state is not GateState.MEASURED or verdict.answerability is None:
        return (
            "No answer here: no passage is relevant, so the model was not asked for more.",
            "bold yellow",
        )
    measured = f"P(answerable) = {verdict.answerability:.2f}"
    threshold = f"threshold {verdict.answerability_threshold:.2f}"
    if verdict.answerable:
        return f"The evidence answers the question: {measured}, {threshold}.", "bold green"
    return f"The evidence does not answer the question: {measured}, {threshold}.", "bold yellow"
