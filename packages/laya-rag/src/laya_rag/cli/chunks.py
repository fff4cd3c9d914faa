"""`laya chunks`: the passages of one document."""

from __future__ import annotations

from typing import Annotated

import typer

from laya_rag.cli.finding import (
    AllTenantsOption,
    BundleSetting,
    ConfigOption,
    JsonOption,
    MinTrustSetting,
    SetOption,
    TenantOption,
    open_engine,
    print_place,
)
from laya_rag.cli.output import console, print_json, printable, reporting_errors


@reporting_errors
def chunks(
    document: Annotated[
        str, typer.Argument(help="The document's id, as `laya documents` shows it.")
    ],
    bundle: BundleSetting = None,
    after: Annotated[
        int | None, typer.Option(help="Begin behind the passage with this number.", min=0)
    ] = None,
    limit: Annotated[int, typer.Option(help="Passages to show (100).", min=1)] = 100,
    tenant: TenantOption = None,
    all_tenants: AllTenantsOption = False,
    min_trust: MinTrustSetting = None,
    config: ConfigOption = None,
    sets: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the passages of a document in order, whole, with their place in it.

    A document that the caller may not see is as unknown as one that does not exist.

    Examples:
        laya chunks notes/march.md
        laya chunks notes/march.md --after 9 --limit 10 --json

    """
    opened = open_engine(
        bundle=bundle,
        config=config,
        sets=sets,
        tenants=tenant,
        all_tenants=all_tenants,
        min_trust=min_trust,
        given={},
    )
    with opened.engine as engine:
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
