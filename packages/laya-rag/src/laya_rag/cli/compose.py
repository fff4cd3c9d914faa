"""`laya compose`: an answer that a language model writes from the evidence, and its checks."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laya_rag.cli.adjudicate import print_adjudication
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
from laya_rag.cli.verify import print_verification

if TYPE_CHECKING:
    from laya_rag.compose import ComposeEvent, ComposeResult

BADGE = "UNVERIFIED DRAFT"

REASONS = {
    "not_answerable": "Nothing composed: the evidence does not answer the question.",
    "no_evidence": "Nothing composed: there is no evidence.",
    "length": "Cut short: the model reached compose.max_tokens.",
    "cut_off": "Cut short: the stream ended before the model was done.",
    "time": "Cut short: compose.timeout was over.",
    "content_filter": "Cut short: the server's filter stopped the model.",
    "unfinished_thinking": "Cut short: the model ended in the middle of its thinking.",
    "unknown_finish": "Perhaps cut short: the server does not say that the model was done.",
}


@shared_options
@reporting_errors
def compose(
    query: QueryArgument,
    *,
    force: Annotated[
        bool,
        typer.Option("--force", help="Compose also where the evidence does not answer."),
    ] = False,
    adjudicate: Annotated[
        bool,
        typer.Option("--adjudicate", help="Say for each claim whether the corpus supports it."),
    ] = False,
    provider: Annotated[
        str | None, typer.Option(help="How the model is asked: ollama, openai or none (none).")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model's name on its server.")] = None,
    url: Annotated[
        str | None, typer.Option(help="The server's address (an Ollama on this machine).")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Pack the evidence into this many tokens (off).", min=1)
    ] = None,
    corpus: CorpusOptions,
    first: SearchOptions,
    gate: GateOptions,
    output: OutputOptions,
) -> None:
    """Let a language model write an answer from the evidence, and check what can be checked.

    The evidence is that of `laya ask`; where it does not answer, no model is asked. The draft is
    shown as it is written, then its citations, quotations and numbers are compared with the
    passages. It stays unverified whatever the checks say. Off until compose.provider and
    compose.model are set; the server is an Ollama or speaks OpenAI's protocol.

    Examples:

        laya compose "how many gannets were counted" --provider ollama --model qwen3:8b
        laya compose "when is the rent due" --adjudicate --json | jq -r .text

    """  # noqa: D412
    from laya_rag.compose import compose as composing

    chosen = {
        "--force": ("compose.when", "always" if force else None),
        "--provider": ("compose.provider", provider),
        "--model": ("compose.model", model),
        "--url": ("compose.url", url),
        "--budget": ("second.pack.budget", budget),
    }
    opened = corpus.open(first.given, gate.given, chosen)
    events = composing(opened.engine, query, filters=opened.filters, adjudicate=adjudicate)
    with closing(events):
        result = _result(events, shown=not output.as_json)
    if output.as_json:
        print_json(opened.as_json(_as_json(result)))
    else:
        _print(result)
    if output.exit_code and result.reason is not None:
        raise typer.Exit(NEGATIVE)


def _result(events: Generator[ComposeEvent, None, None], *, shown: bool) -> ComposeResult:
    """The last event's result, with the text `shown` as it comes; raises the error it may be."""
    from rich.text import Text

    from laya_rag.compose import ErrorEvent, ResultEvent, TextEvent

    screen, waiting = console(), console(stderr=True)
    begun = False
    spinner: Any = nullcontext()
    if shown and waiting.is_terminal:
        spinner = waiting.status("waiting for the model …")
    try:
        with spinner as status:
            for event in events:
                if isinstance(event, TextEvent) and shown:
                    if not begun:
                        if status is not None:
                            status.stop()
                        screen.print(Text(f" {BADGE} ", style="bold black on yellow"))
                        begun = True
                    # Past rich, which prints again what a Ctrl-C interrupts.
                    typer.echo(printable(event.text), nl=False)
                elif isinstance(event, ErrorEvent):
                    raise event.error
                elif isinstance(event, ResultEvent):
                    return event.result
    finally:
        if begun:
            typer.echo()
    raise AssertionError("composition ends with a result or an error")


def _as_json(result: ComposeResult) -> dict[str, Any]:
    """The result with the evidence that it rests on, in one document."""
    found, asked = result.to_json(), result.asked.to_json()
    seconds = {**asked["seconds"], **found["seconds"]}
    beside = {key: value for key, value in asked.items() if key not in found}
    return {**found, **beside, "seconds": seconds}


def _print(result: ComposeResult) -> None:
    from rich.text import Text

    screen = console()
    if result.reason is not None:
        screen.print(Text(REASONS[result.reason], style="bold yellow"))
    if result.verification is not None:
        screen.print(Text("\nAgainst the passages", style="bold underline"))
        print_verification(result.verification)
    if result.adjudication is not None:
        screen.print(Text("\nAgainst the corpus", style="bold underline"))
        print_adjudication(result.adjudication)
    if result.asked.evidence:
        screen.print(Text("\nEvidence", style="bold underline"))
    for passage in result.asked.evidence:
        print_place(screen, f"[{passage.rank}]", passage.candidate)
    if result.verification is None:
        print_flags(screen, result.asked.flags)
    if (left := len(result.asked.evidence) - result.shown) and result.verification is not None:
        screen.print(f"the model was not shown the last {left}", style="dim")
    screen.print(headline(result.asked.verdict)[0], style="dim")
    screen.print(Text(f"\n{result.caveat}", style="bold"))
