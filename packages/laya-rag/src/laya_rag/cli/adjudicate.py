"""`laya adjudicate`: whether the corpus supports what an answer says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from laya_rag.cli.answer import AnswerArgument, read_text
from laya_rag.cli.finding import print_place
from laya_rag.cli.options import (
    CorpusOptions,
    GateOptions,
    OutputOptions,
    SearchOptions,
    shared_options,
)
from laya_rag.cli.output import NEGATIVE, console, counted, print_json, printable, reporting_errors

if TYPE_CHECKING:
    from laya_rag.engine import AdjudicateResult


@shared_options
@reporting_errors
def adjudicate(
    answer: AnswerArgument,
    *,
    corpus: CorpusOptions,
    first: SearchOptions,
    gate: GateOptions,
    output: OutputOptions,
) -> None:
    """Search for each claim of an answer, and say whether the corpus supports it.

    The claims are the answer's sentences. A decision model reads what the search finds for each: it
    is supported, not supported, or not measured where nothing relevant was found. Citations in the
    answer are ignored; `laya verify` checks those.

    Examples:

        laya adjudicate answer.md
        echo 'The mill is driven by the tide.' | laya adjudicate - --bundle .laya/inspectable --json

    """  # noqa: D412
    text = read_text(answer)
    opened = corpus.open(first.given, gate.given)
    result = opened.engine.adjudicate(text, filters=opened.filters)
    if output.as_json:
        print_json(opened.as_json(result.to_json()))
    else:
        print_adjudication(result)
    if output.exit_code and result.counts["supported"] < len(result.claims):
        raise typer.Exit(NEGATIVE)


STYLES = {"supported": "green", "not_supported": "bold red", "not_measured": "yellow"}


def print_adjudication(result: AdjudicateResult) -> None:
    """Each claim with its support and the passages that this rests on, and the counts."""
    from rich.text import Text

    screen = console()
    for claim in result.claims:
        screen.print(Text(printable(" ".join(claim.text.split())), style="bold"))
        support = claim.support.value
        measured = ""
        if claim.probability is not None:
            measured = f", P = {claim.probability:.2f}, threshold {result.threshold:.2f}"
        screen.print(Text(f"   {support.replace('_', ' ')}{measured}", style=STYLES[support]))
        for passage in claim.passages:
            print_place(screen, f"   [{passage.rank}]", passage.candidate)
    counts = result.counts
    screen.print(
        f"\n{counted(counts['claims'], 'claim')}: {counts['supported']} supported, "
        f"{counts['not_supported']} not supported, {counts['not_measured']} not measured",
        style="dim",
    )
    screen.print(Text(result.caveat, style="dim"))
