"""`laya eval poison`: whether planted passages reach the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from laya_rag.cli.finding import JsonOption
from laya_rag.cli.output import console, print_json

from laya_eval.cli.errors import reporting_eval_errors
from laya_eval.cli.gate import QuietOption
from laya_eval.cli.progress import counting, indexing


@reporting_eval_errors
def poison(
    stack: Annotated[
        Path, typer.Argument(help="The stack file to build with.", exists=True, dir_okay=False)
    ],
    data: Annotated[
        Path, typer.Option("--data", "-d", help="A BEIR folder: queries, judgements, corpus.")
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Build the planted corpus here.", file_okay=False),
    ],
    evidence: Annotated[
        int, typer.Option(help="Passages of evidence to look at for each query.", min=1)
    ] = 5,
    depth: Annotated[int, typer.Option(help="Passages to take from each leg.", min=1)] = 20,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="Override a stack's setting.", metavar="KEY=VALUE"),
    ] = None,
    split: Annotated[str, typer.Option(help="Which judgements of the data set.")] = "test",
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Plant passages that want to be found, and count how often they are.

    For every judged query two documents are planted that repeat its words, one with a false claim
    and one that addresses the model that reads it. They are quarantined; the bundle is searched
    with every tier, and as usual. Also counted is how many of them the injection rules flag.

    Examples:
        laya eval poison stacks/models/beir.yaml --data DATA/scifact --out .laya/poison

        laya eval poison stacks/default.yaml -d DATA/own -o .laya/poison --evidence 10 --json

    """
    from dataclasses import asdict

    from laya_eval.beir import load_judged
    from laya_eval.heavy import heavy_job
    from laya_eval.poison import build_poisoned, measure_poison

    judged = load_judged(data, split=split)
    with heavy_job(f"laya eval poison --out {out}"):
        with indexing(stack.stem, quiet=quiet) as progress:
            bundle = build_poisoned(
                stack, data, judged.queries, out, sets=sets or [], progress=progress
            )
        with counting("queries", len(judged.queries), quiet=quiet) as advance:
            found = measure_poison(
                bundle, judged.queries, evidence=evidence, depth=depth, advance=advance
            )
    if as_json:
        print_json(asdict(found))
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("planted")
    for name in ("every tier", "trust filter on", "flagged by the injection rules"):
        table.add_column(name, justify="right")
    total = len(found.queries)
    for row in found.reached:
        table.add_row(
            row.kind,
            f"{row.unfiltered} of {total}",
            f"{row.filtered} of {total}",
            f"{row.flagged} of {row.passages} passages",
        )
    screen = console()
    screen.print(table)
    screen.print(
        f"Queries with a planted passage among {found.evidence} of evidence; "
        f"{found.flagged_honest} passages of the corpus itself were flagged.",
        style="dim",
    )
