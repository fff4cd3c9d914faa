"""`laya bench`: speed and memory beside those of other libraries, in one run."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from laya_rag.cli.finding import JsonOption
from laya_rag.cli.output import console, print_json

from laya_eval.cli.errors import reporting_eval_errors
from laya_eval.cli.gate import QuietOption

if TYPE_CHECKING:
    from laya_eval.bench.suite import Outcome

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

app = typer.Typer(
    name="bench",
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


@app.command()
@reporting_eval_errors
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]…", help="Which benchmarks; all of them.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller corpora and fewer rounds: two minutes.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            "-d",
            help="A BEIR folder to take documents and queries from, instead of synthetic ones.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Also write a .md or .json file.", dir_okay=False),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            help="Replace the tables between the two markers of this page.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    summary_page: Annotated[
        Path | None,
        typer.Option(
            "--summary",
            help="Replace what is between the same markers of this page by one short table.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Say what each benchmark measures, and end.")
    ] = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure speed and memory beside other libraries, in one run on this machine.

    A ratio says how many times as good ours is: above 1 for us, below 1 for the peer. Results are
    compared before anything is timed, and must be equal. A peer that is not installed is named,
    with the command that gets it. Two threads for all sides.

    Examples:
        laya bench --quick

        laya bench query memory --json

        laya bench --write docs/benchmarks.md --summary README.md

        laya bench chunking stages --data DATA/scifact --out bench.md

    """
    if out is not None and out.suffix not in (".md", ".json"):
        raise typer.BadParameter(f"--out {out}: the name has to end in .md or .json")
    for variable in _THREADS:  # read once, when numpy and its peers are loaded
        os.environ[variable] = "2"
    from laya_eval.bench.report import COMMAND, bench_data, markdown, summary
    from laya_eval.bench.setup import Size
    from laya_eval.bench.suite import about, checked, run
    from laya_eval.heavy import heavy_job
    from laya_eval.page import check_page, write_page
    from laya_eval.writing import write_files

    chosen = checked(names or [])
    if listed:
        found = {name: about(name) for name in chosen}
        if as_json:
            print_json(found)
        else:
            _table(["bench", "measures"], [list(item) for item in found.items()])
        return
    for page in (write, summary_page):
        if page is not None:
            check_page(page, COMMAND)
    screen = console(stderr=True)
    with heavy_job("laya bench"):
        outcome = run(
            chosen,
            Size.QUICK if quick else Size.FULL,
            data,
            began=None if quiet else lambda name: screen.print(f"{name} …"),
        )
    if out is not None:
        text = markdown(outcome)
        if out.suffix == ".json":
            text = json.dumps(bench_data(outcome), ensure_ascii=False, indent=2) + "\n"
        write_files(out.parent, {out.name: text})
    if write is not None:
        write_page(write, markdown(outcome), COMMAND)
    if summary_page is not None:
        write_page(summary_page, summary(outcome), COMMAND)
    if as_json:
        print_json(bench_data(outcome))
    else:
        _print(outcome)


def _print(outcome: Outcome) -> None:
    from laya_eval.bench.machine import described
    from laya_eval.bench.report import HEADER, cells

    for name, rows in outcome.rows.items():
        console().print(f"\n{name}", style="bold")
        _table(HEADER, [cells(row) for row in rows])
    console().print(f"\n{described(outcome.machine)}", style="dim")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in header:
        number = name in ("ours", "peer's", "ratio")
        table.add_column(
            name, justify="right" if number else "left", no_wrap=number, overflow="fold"
        )
    for row in rows:
        table.add_row(*row)
    console().print(table)
