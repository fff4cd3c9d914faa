"""`laya extract`: the answer in the documents' own sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from laya_rag.cli.ask import headline
from laya_rag.cli.finding import QueryArgument, print_flags, print_place
from laya_rag.cli.options import (
    CorpusOptions,
    GateOptions,
    OutputOptions,
    SearchOptions,
    shared_options,
)
from laya_rag.cli.output import NEGATIVE, console, print_json, printable, reporting_errors

if TYPE_CHECKING:
    from laya_rag.engine import ExtractResult

REASONS = {
    "not_answerable": "Nothing extracted: the evidence does not answer the question.",
    "no_passages": "Nothing extracted: there is no evidence.",
    "no_query_terms": "Nothing extracted: the question has no word to look for.",
    "nothing_qualifies": "Nothing extracted: no sentence holds enough of the question's words.",
}


@shared_options
@reporting_errors
def extract(
    query: QueryArgument,
    *,
    sentences: Annotated[
        int | None, typer.Option("--sentences", "-n", help="Sentences at most (3).", min=1)
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Pick sentences by what they add, not by rank.")
    ] = False,
    corpus: CorpusOptions,
    first: SearchOptions,
    gate: GateOptions,
    output: OutputOptions,
) -> None:
    """Answer a question with sentences of the evidence, word for word, or not at all.

    The evidence is that of `laya ask`. No model writes or chooses anything: a sentence is taken
    when it holds enough of the question's words, the rare ones counting most. It abstains where the
    gate says that the evidence does not answer.

    Examples:

        laya extract "how many gannets were counted in 2023" --bundle .laya/inspectable
        laya extract "when is the rent due" --no-gate --json | jq -r .text

    """  # noqa: D412
    chosen = {
        "--sentences": ("extract.max_sentences", sentences),
        "--coverage": ("extract.coverage", coverage or None),
    }
    opened = corpus.open(first.given, gate.given, chosen)
    result = opened.engine.extract(query, filters=opened.filters)
    if output.as_json:
        print_json(opened.as_json(result.to_json()))
    else:
        _print(result)
    if output.exit_code and result.abstention is not None:
        raise typer.Exit(NEGATIVE)


def _print(result: ExtractResult) -> None:
    from rich.text import Text

    screen = console()
    for sentence in result.sentences:
        text = Text(printable(" ".join(sentence.text.split())), style="bold")
        screen.print(text.append(f" [{sentence.passage}]", style="cyan"))
    if result.abstention is not None:
        screen.print(Text(REASONS[result.abstention], style="bold yellow"))
    screen.print()
    cited = {sentence.passage for sentence in result.sentences}
    for passage in result.asked.evidence:
        if passage.rank in cited:
            print_place(screen, f"[{passage.rank}]", passage.candidate)
    print_flags(screen, [flag for flag in result.asked.flags if flag.passage in cited])
    screen.print(headline(result.asked.verdict)[0], style="dim")
