"""`laya ask`: whether the bundle answers a question, and with which passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from laya_rag.cli.finding import QueryArgument, print_flags, print_passage
from laya_rag.cli.options import (
    CorpusOptions,
    GateOptions,
    OutputOptions,
    SearchOptions,
    shared_options,
)
from laya_rag.cli.output import NEGATIVE, console, print_json, reporting_errors

if TYPE_CHECKING:
    from laya_retrieval.gate.verdict import Verdict

    from laya_rag.engine import AskResult


@shared_options
@reporting_errors
def ask(
    query: QueryArgument,
    *,
    budget: Annotated[
        int | None, typer.Option(help="Pack the evidence into this many tokens (off).", min=1)
    ] = None,
    corpus: CorpusOptions,
    first: SearchOptions,
    gate: GateOptions,
    output: OutputOptions,
) -> None:
    """Ask whether a bundle answers a question, and show the evidence.

    A decision model reads each candidate and keeps the relevant ones, then says with which
    probability they answer the question. Below the threshold the command abstains. Where no passage
    is relevant the model is not asked about the answer at all, and no probability is shown. It
    prints passages, never an answer of its own.

    Examples:

        laya ask "how does an incremental run stay byte-identical"
        laya ask "who won the cup in 1998" --json | jq .verdict
        laya ask "when is the rent due" --set second.rerank.model=my/cross-encoder --budget 800

    """  # noqa: D412
    opened = corpus.open(first.given, gate.given, {"--budget": ("second.pack.budget", budget)})
    result = opened.engine.ask(query, filters=opened.filters)
    if output.as_json:
        print_json(opened.as_json(result.to_json()))
    else:
        _print(result)
    if output.exit_code and not result.verdict.answerable:
        raise typer.Exit(NEGATIVE)


def _print(result: AskResult) -> None:
    from rich.text import Text

    screen = console()
    verdict, funnel = result.verdict, result.funnel
    line, style = headline(verdict)
    screen.print(Text(line, style=style))
    sifted = ""
    if (bar := verdict.relevance_threshold) is not None:
        sifted = f", {funnel.scored} read, {funnel.kept} relevant (P ≥ {bar:.2f})"
    screen.print(f"{funnel.considered} candidates{sifted}\n", style="dim")
    for passage in result.evidence:
        note = "" if passage.relevance is None else f", relevance {passage.relevance:.2f}"
        print_passage(screen, f"[{passage.rank}]", passage, note)
    print_flags(screen, result.flags)
    if result.packed is not None:
        screen.print(f"packed {result.packed.tokens} of {result.packed.budget} tokens", style="dim")
    elif verdict.relevance_threshold is not None and funnel.kept > funnel.evidence:
        more = funnel.kept - funnel.evidence
        screen.print(f"{more} more relevant; see them with --keep {funnel.kept}", style="dim")
    seconds = result.seconds
    first = sum(seconds.get(stage, 0.0) for stage in ("query", "search", "probe"))
    spent = f"search {first * 1000:.0f} ms"
    if "gate" in seconds:
        spent += f", gate {seconds['gate'] * 1000:.0f} ms"
    screen.print(spent, style="dim")


def headline(verdict: Verdict) -> tuple[str, str]:
    """A verdict in one sentence, and the style to print it in."""
    from laya_retrieval.gate.verdict import GateState

    if verdict.state is GateState.NOT_MEASURED:
        return "Not judged: the gate is off.", "bold"
    if verdict.answerability is None and verdict.kept:
        return "Not judged: no relevant passage fits the budget.", "bold yellow"
    if verdict.answerability is None:
        return (
            "No answer here: no passage is relevant, so the model was not asked for more.",
            "bold yellow",
        )
    measured = f"P(answerable) = {verdict.answerability:.2f}"
    threshold = f"threshold {verdict.answerability_threshold:.2f}"
    if verdict.answerable:
        return f"The evidence answers the question: {measured}, {threshold}.", "bold green"
    return f"The evidence does not answer the question: {measured}, {threshold}.", "bold yellow"
