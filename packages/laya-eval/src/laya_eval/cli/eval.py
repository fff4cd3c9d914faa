"""`laya eval`: how well a corpus is searched, with intervals, tests, and a report to check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from laya_rag.cli.finding import JsonOption
from laya_rag.cli.output import console, print_json

from laya_eval.cli.decisions import decisions
from laya_eval.cli.errors import reporting_eval_errors
from laya_eval.cli.gate import QuietOption, decision_model
from laya_eval.cli.gate import evaluate as measure_gate
from laya_eval.cli.leakage import leakage
from laya_eval.cli.poison import poison
from laya_eval.cli.progress import counting, indexing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from laya_eval.comparison import Comparison
    from laya_eval.retrieval.evaluation import Evaluation, Measurement
    from laya_eval.retrieval.settings import Settings

app = typer.Typer(
    name="eval",
    help="Measure how well a corpus is searched: intervals, tests, and a report to check.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

ResamplesOption = Annotated[
    int, typer.Option(help="Bootstrap resamples behind each interval.", min=1)
]
PermutationsOption = Annotated[
    int, typer.Option(help="Sign patterns of a test that cannot look at all of them.", min=1)
]
SeedOption = Annotated[int, typer.Option(help="Seed of all that is drawn at random.", min=0)]
SplitOption = Annotated[str, typer.Option(help="Which judgements of the data set.")]
IdenticalOption = Annotated[
    bool,
    typer.Option(
        "--keep-identical-ids",
        help="Leave the document of a query's own id in its ranking: ids are not of one kind.",
    ),
]


@app.command()
@reporting_eval_errors
def run(
    target: Annotated[
        Path, typer.Argument(help="A bundle's folder, or a stack file to build one from.")
    ],
    data: Annotated[
        Path,
        typer.Option("--data", "-d", help="A BEIR folder: queries, judgements, corpus."),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Write the report to this folder.", file_okay=False)
    ],
    system: Annotated[
        list[str] | None,
        typer.Option("--system", "-s", help="Run this system, rrf@60+filter say; repeatable."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="The system that the others are compared with.")
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", help="Measure of ir-measures; the first is tested."),
    ] = None,
    leg: Annotated[list[str] | None, typer.Option(help="Only this leg; may be repeated.")] = None,
    depth: Annotated[int, typer.Option(help="Passages to take from each leg.", min=1)] = 300,
    results: Annotated[
        int, typer.Option(help="Documents of each ranking to keep and measure.", min=1)
    ] = 100,
    candidates: Annotated[
        int, typer.Option(help="Fused candidates that a step reads.", min=1)
    ] = 20,
    keep: Annotated[
        int, typer.Option("--keep", "-k", help="Candidates that the step cover keeps.", min=1)
    ] = 10,
    relevance: Annotated[
        float,
        typer.Option(help="Probability from which the step filter keeps.", min=0, max=1),
    ] = 0.5,
    model: Annotated[
        str, typer.Option(help="Decision model: a provider's name, or its block as JSON.")
    ] = "decision.mini",
    define: Annotated[
        list[str] | None,
        typer.Option(help="A fuser or step of your own.", metavar="NAME=BLOCK"),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="Override a stack's setting.", metavar="KEY=VALUE"),
    ] = None,
    probes: Annotated[
        int,
        typer.Option(help="Search again for this many names that the search found.", min=0),
    ] = 0,
    nuggets: Annotated[
        bool,
        typer.Option("--nuggets", help="Measure extracted answers on the data's gold nuggets."),
    ] = False,
    timed: Annotated[
        int,
        typer.Option(help="Queries to time each system on; 0 for none.", min=0),
    ] = 20,
    split: SplitOption = "test",
    sample: Annotated[
        int | None, typer.Option(help="Only this many queries, drawn by the seed.", min=1)
    ] = None,
    keep_identical_ids: IdenticalOption = False,
    resamples: ResamplesOption = 10_000,
    permutations: PermutationsOption = 100_000,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run systems on judged queries, and write a report.

    A system is a leg (`bm25`, `dense`, `dense:NAME`, `sparse`, `multivector`), a fusion of all legs
    (`rrf@60`, `minmax`, `minmax@0.7`, `zscore`, `theoretical`, `log-odds`), or one of these with
    steps over its first candidates (`rrf@60+filter`, `+order`, `+cover`, `+head`). Without
    --system: every leg, and the usual fusions.

    The folder gets `report.md`, `report.json`, a TREC run for each system, and plots, one of them
    of cost against quality. A run that was stopped goes on where it was when the same command is
    given again.

    Examples:
        laya eval run .laya/beir --data DATA/scifact --out .laya/eval/scifact

        laya eval run stacks/models/beir.yaml --data DATA/scifact --out .laya/eval/scifact

        laya eval run .laya/beir -d DATA/scifact -o gated -s rrf+head -s rrf+filter --sample 100

    """
    from laya_eval.heavy import heavy_job
    from laya_eval.metrics import MEASURES
    from laya_eval.retrieval.settings import Settings

    settings = Settings(
        systems=tuple(system) if system else None,
        baseline=baseline,
        measures=tuple(measure or MEASURES),
        legs=tuple(leg) if leg else None,
        depth=depth,
        results=results,
        candidates=candidates,
        keep=keep,
        relevance=relevance,
        model=model,
        define=_blocks(define or []),
        probes=probes,
        nuggets=nuggets,
        split=split,
        sample=sample,
        keep_identical_ids=keep_identical_ids,
        resamples=resamples,
        permutations=permutations,
        seed=seed,
    )
    with heavy_job(f"laya eval run --out {out}"):
        measurement, hashes = _open(target, data, out, sets or [], settings, quiet=quiet)
        facts = {
            "target": str(target),
            "sets": sets or [],
            "data": {"path": str(data), "sha256": hashes},
        }
        evaluation, costs = _write(measurement, facts, out, timed, quiet=quiet)
    if as_json:
        from laya_eval.retrieval.report import report_data

        report = report_data(measurement, evaluation, facts)
        print_json({**report, "cost": costs, "report": str(out)})
        return
    _print(evaluation)
    _print_costs(costs)
    console().print(f"Wrote {out / 'report.md'}.")


@app.command()
@reporting_eval_errors
def compare(
    a: Annotated[str, typer.Argument(help="The baseline: REPORT, REPORT#SYSTEM or a run file.")],
    b: Annotated[str, typer.Argument(help="What is compared with it, in the same forms.")],
    data: Annotated[
        Path | None,
        typer.Option("--data", "-d", help="A BEIR folder, to measure run files with."),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", help="Measure to compare; all are one family."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Also write files with plots here.", file_okay=False),
    ] = None,
    split: SplitOption = "test",
    keep_identical_ids: IdenticalOption = False,
    resamples: ResamplesOption = 10_000,
    permutations: PermutationsOption = 100_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Compare two reports, two systems, or two run files, query by query.

    A difference above 0 favours the second. Two reports are compared in every system that both
    have; both have to average over the same queries of the same data. The default measure is
    nDCG@10.

    Examples:
        laya eval compare before after

        laya eval compare 'report#bm25' 'report#rrf@60' --measure nDCG@10 --measure R@100

        laya eval compare bm25.trec new.trec --data DATA/scifact --out difference

    """
    from dataclasses import asdict

    from laya_eval.comparison import compare as test
    from laya_eval.retrieval.contest import comparison_files, contests, read_side
    from laya_eval.writing import write_files

    measures = tuple(measure or ["nDCG@10"])
    sides = [
        read_side(side, measures, data=data, split=split, keep_identical_ids=keep_identical_ids)
        for side in (a, b)
    ]
    family = contests(sides[0], sides[1], measures)
    found = test(family, resamples=resamples, permutations=permutations, seed=seed)
    if out is not None:
        write_files(out, comparison_files(family, found))
    if as_json:
        print_json({"comparisons": [asdict(one) for one in found]})
        return
    _print_comparisons(found)


@app.command()
@reporting_eval_errors
def check(
    report: Annotated[Path, typer.Argument(help="A report's folder.", file_okay=False)],
    target: Annotated[
        Path | None,
        typer.Option(help="The bundle or stack, if it is not where the report says."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", "-d", help="The data, if it is not where the report says."),
    ] = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compute a report afresh, and fail unless every byte of it is the same.

    Data, corpus and configuration are compared first, so that a stale report is refused at once
    with the name of what changed. The bundle of a stack is brought up to date before that. Of the
    page that `laya inspect build` wrote, sources, vectors and every copy are compared.

    Examples:
        laya eval check .laya/eval/scifact

        laya eval check .laya/eval/scifact --data /mnt/beir/scifact --json

        laya eval check docs/inspectable

    """
    from laya_eval.heavy import heavy_job
    from laya_eval.inspect.check import STACK, check_site, is_inspectable
    from laya_eval.retrieval.check import check_files, check_inputs, read_report, settings_of
    from laya_eval.retrieval.report import report_files

    if is_inspectable(report):
        if data is not None:
            raise typer.BadParameter("--data is for reports of `laya eval run`")
        _print_fresh(report, check_site(report, target or STACK), as_json=as_json)
        return
    known = read_report(report)
    settings = settings_of(known)
    facts = {key: known[key] for key in ("target", "sets", "data")}
    with heavy_job(f"laya eval check {report}"):
        measurement, hashes = _open(
            target or Path(known["target"]),
            data or Path(known["data"]["path"]),
            report,
            known["sets"],
            settings,
            quiet=quiet,
        )
        check_inputs(known, measurement, hashes)
        with counting("queries", len(measurement.queries), quiet=quiet) as advance:
            found = measurement.run(advance=advance)
        files = report_files(measurement, measurement.measure(found), facts)
    check_files(report, files)
    _print_fresh(report, files, as_json=as_json)


app.command(
    name="calibration",
    help="""Measure how far a gate's probabilities hold: `laya gate eval` under another name.

    Examples:
        laya eval calibration --labels labels.jsonl

        laya eval calibration --labels new-labels.jsonl --gate gate.json --json
    """,
)(measure_gate)
app.command()(decisions)
app.command()(leakage)
app.command()(poison)


def _open(
    target: Path,
    data: Path,
    out: Path,
    sets: Sequence[str],
    settings: Settings,
    *,
    quiet: bool,
) -> tuple[Measurement, dict[str, str]]:
    """The measurement, and the hashes of the data's files."""
    from laya_eval.beir import data_hashes, hashes, load_judged
    from laya_eval.nuggets import load_nuggets, nugget_files
    from laya_eval.retrieval.corpus import BUNDLE, build_bundle, open_corpus
    from laya_eval.retrieval.evaluation import Measurement

    judged = load_judged(data, split=settings.split)
    known = data_hashes(data, split=settings.split)
    gold = None
    if settings.nuggets:
        gold = load_nuggets(data)
        known = dict(sorted({**known, **hashes(data, nugget_files(data))}.items()))
    bundle = target
    if target.is_file():
        bundle = out / BUNDLE
        with indexing(target.stem, quiet=quiet) as progress:
            build_bundle(target, data, bundle, sets=sets, progress=progress)
    elif sets:
        raise typer.BadParameter("--set changes a stack, and this is a bundle")
    measurement = Measurement(
        open_corpus(bundle),
        judged,
        settings,
        model=lambda: decision_model(settings.model),
        nuggets=gold,
    )
    return measurement, known


def _write(
    measurement: Measurement, facts: Mapping[str, Any], out: Path, timed: int, *, quiet: bool
) -> tuple[Evaluation, dict[str, Any] | None]:
    """Run, write the report, time the systems, and drop the checkpoint."""
    from laya_eval.retrieval.cost import cost_files, drop_costs, measure_costs, timed_queries
    from laya_eval.retrieval.report import report_files, superseded
    from laya_eval.writing import write_files

    checkpoint = measurement.checkpoint(out, facts["data"]["sha256"])
    with counting("queries", len(measurement.queries), quiet=quiet) as advance:
        found = measurement.run(checkpoint, advance=advance)
    evaluation = measurement.measure(found)
    files = report_files(measurement, evaluation, facts)
    write_files(out, files)
    for path in superseded(out, files):
        path.unlink()
    drop_costs(out)
    costs = None
    if timed:
        queries = len(timed_queries(measurement, timed))
        with counting("timed queries", queries, quiet=quiet) as advance:
            costs = measure_costs(measurement, evaluation, timed, advance=advance)
        write_files(out, cost_files(costs))
    checkpoint.discard()
    return evaluation, costs


def _print_fresh(report: Path, files: Iterable[str], *, as_json: bool) -> None:
    names = sorted(files)
    if as_json:
        print_json({"report": str(report), "fresh": True, "files": names})
    else:
        console().print(f"{report} is fresh: {len(names)} files, every byte the same.")


def _blocks(define: Sequence[str]) -> dict[str, dict[str, Any]]:
    """`NAME=BLOCK` options by name."""
    import json

    blocks: dict[str, dict[str, Any]] = {}
    for item in define:
        name, equals, raw = item.partition("=")
        try:
            block = json.loads(raw) if raw.lstrip().startswith("{") else {"provider": raw}
        except ValueError as error:
            raise typer.BadParameter(f"--define {name}: no JSON: {error}") from error
        if not (name and equals and raw):
            raise typer.BadParameter(f"--define wants NAME=BLOCK, not {item!r}")
        blocks[name] = block
    return blocks


def _print(evaluation: Evaluation) -> None:
    from laya_eval.retrieval.report import measure_table, membership_note

    _table(measure_table(evaluation))
    console().print(membership_note(evaluation), style="dim")
    _print_comparisons(evaluation.comparisons)


def _print_costs(costs: Mapping[str, Any] | None) -> None:
    if costs is None:
        return
    console().print("\nMilliseconds per query on this machine", style="bold")
    rows = [("system", "median", "95 of 100 below")]
    rows += [
        (name, f"{one['median_ms']:.3g}", f"{one['p95_ms']:.3g}")
        for name, one in costs["systems"].items()
    ]
    _table(rows)


def _print_comparisons(comparisons: Sequence[Comparison]) -> None:
    """A table for each baseline and measure, narrow enough for a terminal."""
    from laya_eval.retrieval.report import comparison_table

    groups: dict[tuple[str, str], list[Comparison]] = {}
    for one in comparisons:
        groups.setdefault((one.baseline, one.measure), []).append(one)
    for (baseline, measure), group in groups.items():
        console().print(f"\n{measure} against {baseline}; * where q ≤ .05", style="bold")
        rows = comparison_table(group)
        wanted = [rows[0].index(name) for name in _SHOWN]
        _table([[row[column] for column in wanted] for row in rows])


_SHOWN = ("system", "difference", "95% interval", "q (BH)", "won / lost / equal")


def _table(rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(rows[0][0], overflow="fold")
    for name in rows[0][1:]:
        table.add_column(name, no_wrap=True, justify="right")
    for row in rows[1:]:
        table.add_row(*row)
    console().print(table)
