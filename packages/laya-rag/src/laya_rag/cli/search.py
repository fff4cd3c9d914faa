"""`laya search`: the passages that a bundle has on a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from laya_rag.cli.finding import JsonOption, QueryArgument, print_passage
from laya_rag.cli.options import CorpusOptions, SearchOptions, shared_options
from laya_rag.cli.output import console, counted, print_json, reporting_errors

if TYPE_CHECKING:
    from laya_rag.engine import SearchResult


@shared_options
@reporting_errors
def search(
    query: QueryArgument,
    *,
    top: Annotated[
        int | None, typer.Option("--top", "-k", help="Passages to show (5).", min=1)
    ] = None,
    corpus: CorpusOptions,
    first: SearchOptions,
    as_json: JsonOption = False,
) -> None:
    """Search a bundle with all of its legs, fused.

    Every passage comes with its file, its headings, its place in the document (characters), and
    what each leg gave it: rank, score, and contribution to the fused score.

    Examples:

        laya search "how does an incremental run stay byte-identical"
        laya search "trust tiers" --leg bm25 --top 3 --json
        laya search "tides" --filter '{"media_type": "text/markdown"}' --json | jq '.results[].text'

    """  # noqa: D412
    opened = corpus.open(first.given, {"--top": ("search.keep", top)})
    result = opened.engine.search(query, filters=opened.filters)
    if as_json:
        print_json(opened.as_json(result.to_json()))
    else:
        _print(result, opened.engine.stats().chunks)


def _print(result: SearchResult, chunks: int) -> None:
    screen = console()
    for passage in result.passages:
        print_passage(screen, f"{passage.rank}.", passage)
    count = len(result.passages)
    what = counted(count, "passage") if count else "nothing found"
    spent = f"{result.seconds['total'] * 1000:.0f} ms"
    screen.print(f"{what} of {chunks} chunks in {spent}", style="dim")
