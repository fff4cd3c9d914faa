"""`laya eval decisions`: how far the gates' probabilities hold, and what abstaining buys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from laya_rag.cli.finding import JsonOption
from laya_rag.cli.output import console, print_json

from laya_eval.cli.errors import reporting_eval_errors
from laya_eval.cli.gate import ModelOption, QuietOption, ResamplesOption, decision_model
from laya_eval.cli.progress import counting, indexing

if TYPE_CHECKING:
    from laya_eval.study.decisions.study import StudyResult

#: Whose tables a page's markers hold.
COMMAND = "laya eval decisions"


@reporting_eval_errors
def decisions(
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            "-d",
            help="The folder that has the data sets' folders.",
            exists=True,
            file_okay=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Write the report to this folder.", file_okay=False),
    ] = Path(".laya/eval/decisions"),
    only: Annotated[
        list[str] | None, typer.Option(help="Only this data set's folder; may be repeated.")
    ] = None,
    cap: Annotated[
        int,
        typer.Option(help="Questions of a corpus that the decision model judges, at most.", min=10),
    ] = 120,
    stack: Annotated[
        Path,
        typer.Option(help="The stack that indexes the corpora.", exists=True, dir_okay=False),
    ] = Path("stacks/models/beir.yaml"),
    model: ModelOption = "decision.mini",
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            help="Replace the tables between the markers of this page; plots go into a folder "
            "of its name beside it.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    resamples: ResamplesOption = 1000,
    permutations: Annotated[
        int, typer.Option(help="Sign patterns of a test that cannot look at all of them.", min=1)
    ] = 100_000,
    seed: Annotated[int, typer.Option(help="Seed of all that is drawn at random.", min=0)] = 0,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure the gates on public data: calibration, risk and coverage, what abstaining buys.

    The decision model's gate and the feature gate are asked about texts, and about searches in
    corpora that lack half of what answers. Only questions are judged that no training step of the
    embedded model saw. Compared with are answering always and thresholds on a leg's best score.

    The folder gets `report.md`, `report.json` and plots. A run that was stopped goes on where it
    was when the same command is given again.

    Examples:
        laya eval decisions --data DATA --cap 30

        laya eval decisions --data DATA --only squad2_dev --only wikiqa --out squad --json

        laya eval decisions --data DATA --write docs/decision-study.md

    """
    from laya_eval.heavy import heavy_job
    from laya_eval.page import check_page, write_page
    from laya_eval.study.decisions.report import report_data, study_files, tables
    from laya_eval.study.decisions.settings import StudySettings
    from laya_eval.study.decisions.study import Study, capped
    from laya_eval.writing import write_files

    if write is not None:
        check_page(write, COMMAND)
    settings = StudySettings(
        stack=str(stack),
        only=tuple(only or ()),
        cap=cap,
        model=model,
        resamples=resamples,
        permutations=permutations,
        seed=seed,
    )
    if not quiet:
        console(stderr=True).print(capped(settings), style="dim")
    with heavy_job(f"{COMMAND} --out {out}"):
        study = Study(data, out, settings, decision_model(model))
        result = study.run(
            lambda what, total: counting(what, total, quiet=quiet),
            lambda what: indexing(what, quiet=quiet),
        )
        write_files(out, study_files(result))
        study.discard_checkpoints()
    if write is not None:
        body, plots = tables(result, f"{write.stem}/")
        write_files(write.parent / write.stem, plots)
        write_page(write, body, COMMAND)
    if as_json:
        print_json({**report_data(result), "report": str(out)})
        return
    _print(result)
    console().print(f"Wrote {out / 'report.md'}.")


def _print(result: StudyResult) -> None:
    """The decision model's gate on every set, narrow enough for a terminal."""
    from rich.table import Table

    from laya_eval.study.decisions.measuring import AS_IT_IS, LAYA
    from laya_eval.study.decisions.report import cell

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("LayaGate on", overflow="fold")
    for name in ("questions", "ROC-AUC", "ECE", "wrong of all", "of 80 %", "of 50 %"):
        table.add_column(name, no_wrap=True, justify="right")
    for kind, sets in (("pairs", result.pairs), ("search", result.corpora)):
        for one in sets:
            card = one.outcome.card(LAYA, AS_IT_IS)
            if card is not None:
                measures = ("roc_auc", "ece", "wrong@1", "wrong@0.8", "wrong@0.5")
                table.add_row(
                    f"{one.source.name} ({kind})",
                    str(len(one.outcome.labels)),
                    *(cell(card, name, interval=False) for name in measures),
                )
    console().print(table)
