"""`laya documents`: the documents of a bundle, page by page."""

from __future__ import annotations

from typing import Annotated

import typer

from laya_rag.cli.finding import JsonOption
from laya_rag.cli.options import ViewOptions, shared_options
from laya_rag.cli.output import console, print_json, printable, reporting_errors


@shared_options
@reporting_errors
def documents(
    *,
    after: Annotated[
        str | None, typer.Option(help="Begin behind the document with this id.", metavar="ID")
    ] = None,
    limit: Annotated[int, typer.Option(help="Documents to list (100).", min=1)] = 100,
    view: ViewOptions,
    as_json: JsonOption = False,
) -> None:
    """List the documents of a bundle by ascending id, as far as the caller may see them.

    A page ends with the id that asks for the next one. Documents that come or go between two pages
    move none of the others.

    Examples:

        laya documents --limit 20
        laya documents --after notes/march.md --json | jq -r '.documents[].document_id'

    """  # noqa: D412
    with view.open().engine as engine:
        page = engine.documents(after=after, limit=limit)
    if as_json:
        print_json(page.to_json())
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("document", overflow="fold")
    table.add_column("title", overflow="fold")
    table.add_column("passages", justify="right")
    table.add_column("characters", justify="right")
    table.add_column("trust")
    for row in page.documents:
        texts = (row.document_id, row.title, str(row.chunks), str(row.characters), row.trust_tier)
        table.add_row(*map(printable, texts))
    screen = console()
    screen.print(table)
    if page.after is not None:
        screen.print(f"more behind --after {printable(page.after)}", style="dim", soft_wrap=True)
