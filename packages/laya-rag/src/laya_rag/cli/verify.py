"""`laya verify`: what in an answer agrees with the passages that it cites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from laya_rag.cli.answer import AnswerArgument, read_evidence, read_text
from laya_rag.cli.finding import print_flags
from laya_rag.cli.options import CorpusOptions, GateOptions, OutputOptions, shared_options
from laya_rag.cli.output import NEGATIVE, console, counted, print_json, printable, reporting_errors

if TYPE_CHECKING:
    from laya_retrieval.verify.report import ClaimReport

    from laya_rag.engine import VerifyResult


@shared_options
@reporting_errors
def verify(
    answer: AnswerArgument,
    *,
    evidence: Annotated[
        str | None,
        typer.Option(help="JSON with the passages, such as laya ask --json printed; - for stdin."),
    ] = None,
    record: Annotated[
        list[str] | None,
        typer.Option(help="A passage of the bundle by its record id, in order. May be repeated."),
    ] = None,
    query: Annotated[
        str | None, typer.Option(help="Take the evidence that laya ask finds for this question.")
    ] = None,
    corpus: CorpusOptions,
    gate: GateOptions,
    output: OutputOptions,
) -> None:
    """Check an answer's citations, quotes and numbers against its passages.

    `[n]` in the answer cites the n-th passage. Nothing is guessed: words in quotation marks must
    stand in a passage, numbers are compared by value, and what could not be compared is counted.
    No model takes part (only --query asks one, to find the evidence).

    Examples:

        laya ask "how many gannets were counted" --json > found.json
        laya verify answer.md --evidence found.json
        echo 'There were 11,420 nests [1].' | laya verify - --query "how many gannets"

    """  # noqa: D412
    if sum(source is not None for source in (evidence, record, query)) != 1:
        raise typer.BadParameter("say what to compare with: --evidence, --record or --query")
    if answer == evidence == "-":
        raise typer.BadParameter("standard input holds the answer or the evidence, not both")
    text = read_text(answer)
    if evidence is not None:
        from laya_rag.engine import verify_answer

        result = verify_answer(text, read_evidence(evidence))
        shown = result.to_json() if output.as_json else {}
    else:
        opened = corpus.open(gate.given)
        result = opened.engine.verify(text, records=record, query=query, filters=opened.filters)
        shown = opened.as_json(result.to_json()) if output.as_json else {}
    if output.as_json:
        print_json(shown)
    else:
        print_verification(result)
    if output.exit_code and not _holds(result):
        raise typer.Exit(NEGATIVE)


def _holds(result: VerifyResult) -> bool:
    """Whether nothing that was compared is missing, misplaced or out of range."""
    counts = result.report.counts
    return not (
        counts.claims_out_of_range
        or counts.quotes_missing
        or counts.quotes_elsewhere
        or counts.numbers_missing
        or counts.numbers_elsewhere
    )


def print_verification(result: VerifyResult) -> None:
    """Each claim with what was found, and the counts."""
    from rich.text import Text

    screen = console()
    for claim in result.report.claims:
        screen.print(Text(printable(" ".join(claim.text.split())), style="bold"))
        for text, style in _findings(claim):
            screen.print(Text(f"   {text}", style=style))
    counts = result.report.counts
    screen.print(
        f"\n{counted(counts.claims, 'claim')}: {counts.cited} cited, {counts.uncited} uncited, "
        f"{counts.claims_out_of_range} cite what is not there, {counts.unchecked} not comparable",
        style="dim",
    )
    print_flags(screen, result.flags)
    screen.print(Text(result.report.caveat, style="dim"))


STYLES = {"found": "green", "elsewhere": "yellow", "unclear": "yellow", "missing": "bold red"}


def _findings(claim: ClaimReport) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if claim.uncited:
        found.append(("no citation", "yellow"))
    found += [
        (f"citation {printable(item.text)} names no passage: {', '.join(item.out_of_range)}", "red")
        for item in claim.citations
        if item.out_of_range
    ]
    checks: list[tuple[str, Any]] = [
        *(("quote", item) for item in claim.quotes),
        *(("number", item) for item in claim.numbers),
    ]
    for kind, check in checks:
        places = sorted({place.passage for place in check.places})
        where = f" in {', '.join(f'[{place}]' for place in places)}" if places else ""
        text = printable(" ".join(check.text.split()))
        found.append((f"{kind} {text}: {check.state}{where}", STYLES[check.state]))
    return found
