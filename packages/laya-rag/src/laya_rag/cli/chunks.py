"""`laya chunks`: the passages of one document."""

from __future__ import annotations

from typing import Annotated

import typer

from laya_rag.cli.finding import JsonOption, print_place
from laya_rag.cli.options import ViewOptions, shared_options
from laya_rag.cli.output import console, print_json, printable, reporting_errors


@shared_options
@reporting_errors
def chunks(
    document: Annotated[
        str, typer.Argument(help="The document's id, as `laya documents` shows it.")
    ],
    *,
    after: Annotated[
        int | None, typer.Option(help="Begin behind the passage with this number.", min=0)
    ] = None,
    limit: Annotated[int, typer.Option(help="Passages to show (100).", min=1)] = 100,
    view: ViewOptions,
    as_json: JsonOption = False,
) -> None:
    """Show the passages of a document in order, whole, with their place in it.

    A document that the caller may not see is as unknown as one that does not exist.

    Examples:

        laya chunks notes/march.md
        laya chunks notes/march.md --after 9 --limit 10 --json

    """  # noqa: D412
    with view.open().engine as engine:
        page = engine.chunks(document, after=after, limit=limit)
    if as_json:
        print_json(page.to_json())
        return
    from rich.padding import Padding
    from rich.text import Text

    screen = console()
    for chunk in page.chunks:
        print_place(screen, f"{chunk.metadata['ordinal']}.", chunk)
        lines = "\n".join(printable(line) for line in chunk.text.split("\n"))
        screen.print(Padding(Text(lines), (0, 0, 1, 3)))
    if page.after is not None:
        screen.print(f"more behind --after {page.after}", style="dim")
