"""A measurement's report as files: Markdown, JSON with every query's values, runs, plots."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from laya_eval.comparison import Comparison, Contest, paired_differences
from laya_eval.markdown import markdown_table
from laya_eval.plot.win_loss import win_loss_svg
from laya_eval.retrieval.answer import EVIDENCE, NuggetRecall
from laya_eval.retrieval.evaluation import CHOSEN, Evaluation, Measurement
from laya_eval.retrieval.second_hop import SecondHop
from laya_eval.trec import run_text

SCHEMA_VERSION = 1
#: The file that the others are checked against, written last.
REPORT = "report.json"


def report_data(
    measurement: Measurement, evaluation: Evaluation, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """The whole report as JSON; `facts` says what was asked for: target, data, hashes."""
    return {
        "schema_version": SCHEMA_VERSION,
        "fingerprint": measurement.fingerprint,
        **facts,
        "corpus": measurement.corpus.description,
        "configuration": measurement.configuration,
        "membership": {
            "queries": list(evaluation.queries),
            "without_relevant": list(evaluation.without_relevant),
            "sampled_from": evaluation.sampled_from,
        },
        "systems": {
            name: {
                "means": dict(measured.means),
                "intervals": {key: asdict(value) for key, value in measured.intervals.items()},
                "values": {key: list(column.values()) for key, column in measured.values.items()},
            }
            for name, measured in evaluation.systems.items()
        },
        "comparisons": [asdict(comparison) for comparison in evaluation.comparisons],
        "pool": [asdict(depth) for depth in evaluation.pool],
        "second_hop": None if evaluation.second_hop is None else asdict(evaluation.second_hop),
        "answers": {name: asdict(answers) for name, answers in evaluation.answers.items()},
        "split_halves": None
        if evaluation.split_halves is None
        else asdict(evaluation.split_halves),
    }


def report_files(
    measurement: Measurement, evaluation: Evaluation, facts: Mapping[str, Any]
) -> dict[str, str]:
    """Every file of the report by name; the same input gives the same text."""
    files = {
        f"runs/{slug(name)}.trec": run_text(run, tag=slug(name))
        for name, run in evaluation.runs.items()
    }
    plots: dict[str, str] = {}
    for comparison in evaluation.comparisons:
        if comparison.name in evaluation.systems:
            file = f"win-loss-{slug(comparison.name)}.svg"
            plots[comparison.name] = file
            files[file] = _plot(evaluation, comparison)
    data = report_data(measurement, evaluation, facts)
    files["report.md"] = _markdown(data, evaluation, plots)
    files[REPORT] = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    return files


def superseded(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """Runs and plots in `folder` that an earlier report left, and `files` does not have."""
    present = [*folder.glob("runs/*.trec"), *folder.glob("win-loss-*.svg")]
    return sorted(path for path in present if path.relative_to(folder).as_posix() not in files)


def slug(name: str) -> str:
    """A system's name as part of a file's name."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")


def comparison_table(comparisons: Sequence[Comparison]) -> list[tuple[str, ...]]:
    """The rows of a table of comparisons, its heading first."""
    heading = ("system", "against", "measure", "difference", "95% interval", "p", "q (BH)")
    rows: list[tuple[str, ...]] = [(*heading, "won / lost / equal", "least detectable")]
    for one in comparisons:
        least = "" if one.significant or one.detectable is None else f"{one.detectable:.4f}"
        rows.append(
            (
                one.name,
                one.baseline,
                one.measure,
                f"{one.difference:+.4f}",
                f"{one.interval.low:+.4f} to {one.interval.high:+.4f}",
                p_value(one.p),
                p_value(one.q) + ("*" if one.significant else ""),
                f"{one.wins} / {one.losses} / {one.ties}",
                least,
            )
        )
    return rows


def measure_table(evaluation: Evaluation) -> list[tuple[str, ...]]:
    """The rows of a table of means; the first measure has its interval."""
    measures = list(next(iter(evaluation.systems.values())).means)
    rows: list[tuple[str, ...]] = [("system", measures[0], "95% interval", *measures[1:])]
    for name, measured in evaluation.systems.items():
        interval = measured.intervals[measures[0]]
        means = [f"{measured.means[measure]:.4f}" for measure in measures]
        rows.append((name, means[0], f"{interval.low:.4f} to {interval.high:.4f}", *means[1:]))
    return rows


def p_value(p: float) -> str:
    """A p-value with as many digits as are read."""
    return "< .0001" if p < 0.0001 else f"{p:.4f}"


def membership_note(evaluation: Evaluation) -> str:
    """What every mean averages over, in one sentence."""
    said = f"{len(evaluation.queries)} queries"
    if evaluation.sampled_from is not None:
        said += f", a sample of {evaluation.sampled_from}"
    if evaluation.without_relevant:
        said += f"; {len(evaluation.without_relevant)} judged queries without a relevant document"
        said += " are left out"
    return said + "."


def pool_table(evaluation: Evaluation) -> list[tuple[str, ...]]:
    """The rows of a table of the legs' pool, its heading first."""
    rows: list[tuple[str, ...]] = [("documents of each leg", "pool recall", "best MAP@100")]
    rows += [(str(p.depth), f"{p.recall:.4f}", f"{p.best_map:.4f}") for p in evaluation.pool]
    return rows


def second_hop_table(found: SecondHop) -> list[tuple[str, ...]]:
    """The rows of a table of what becomes of second-hop documents, its heading first."""
    rows: list[tuple[str, ...]] = [("stage", "all of it", f"first {found.hop}")]
    rows.append(("pool of the question", f"{found.pool:.4f}", "0"))
    if found.searched_again is not None:
        rows.append(("second search", "", f"{found.searched_again:.4f}"))
        rows.append(("question, as many documents", f"{found.looked_deeper:.4f}", ""))
    rows += [
        (name, f"{share:.4f}", f"{found.tops[name]:.4f}") for name, share in found.rankings.items()
    ]
    return rows


def answer_table(evaluation: Evaluation) -> list[tuple[str, ...]]:
    """The rows of a table of extracted answers and of the passages behind them."""
    rows: list[tuple[str, ...]] = [
        (
            "system",
            "text",
            "nugget recall",
            "95% interval",
            "characters",
            "per 1,000 characters",
            "95% interval",
            "abstained",
        )
    ]
    for name, answers in evaluation.answers.items():
        rows.append((name, "answer", *_recall_cells(answers.answer), f"{answers.abstained:.2f}"))
        rows.append((name, f"{EVIDENCE} passages", *_recall_cells(answers.evidence), ""))
    return rows


def _recall_cells(found: NuggetRecall) -> tuple[str, ...]:
    ratio, span = found.per_thousand, found.per_thousand_interval
    return (
        f"{found.recall:.4f}",
        f"{found.interval.low:.4f} to {found.interval.high:.4f}",
        f"{found.characters:.0f}",
        "" if ratio is None else f"{ratio:.3f}",
        "" if span is None else f"{span.low:.3f} to {span.high:.3f}",
    )


def _plot(evaluation: Evaluation, comparison: Comparison) -> str:
    ours, theirs = (evaluation.systems[n] for n in (comparison.name, comparison.baseline))
    differences = paired_differences(
        Contest(
            comparison.name,
            comparison.baseline,
            comparison.measure,
            ours.values[comparison.measure],
            theirs.values[comparison.measure],
        )
    )
    return win_loss_svg(
        differences,
        name=comparison.name,
        baseline=comparison.baseline,
        measure=comparison.measure,
    )


def _markdown(data: Mapping[str, Any], evaluation: Evaluation, plots: Mapping[str, str]) -> str:
    sections = ["# Retrieval report", membership_note(evaluation)]
    sections.append(markdown_table(measure_table(evaluation)))
    if evaluation.comparisons:
        sections += [
            "## Compared",
            markdown_table(comparison_table(evaluation.comparisons)),
            "Differences are paired, query by query. Intervals are percentile bootstraps over "
            "queries, p comes from a two-sided sign-flip test, q is p adjusted over this table "
            "(Benjamini–Hochberg); * marks q ≤ .05. Where a difference is not significant, the "
            "least one that this many queries would have shown four times out of five stands "
            "beside it.",
        ]
        sections += [f"![{name} against the baseline]({file})" for name, file in plots.items()]
    sections += [
        "## What the legs found together",
        markdown_table(pool_table(evaluation)),
        "The best MAP is that of the best order of the pool, divided by the number of relevant "
        "documents that there are.",
    ]
    hop = evaluation.second_hop
    if hop is not None:
        sections += [
            "## Second-hop retention",
            markdown_table(second_hop_table(hop)),
            f"{len(hop.queries)} queries have several relevant documents of which no leg has all "
            f"among its first {hop.hop}; they miss {hop.documents}. The table has the share of "
            "those that is still there, the mean over these queries.",
        ]
    if evaluation.answers:
        sections += [
            "## Extracted answers",
            markdown_table(answer_table(evaluation)),
            "The share of a query's gold nuggets that is said word for word by the sentences "
            f"extracted from the first {EVIDENCE} passages, and by the passages themselves; per "
            "1,000 characters is the ratio of the means.",
        ]
    halves = evaluation.split_halves
    if halves is not None:
        shares = ", ".join(f"{name} {share:.0%}" for name, share in halves.chosen.items())
        value = sum(halves.values.values()) / len(halves.values)
        sections += [
            "## Choosing a system by split halves",
            f"Chosen on one half of the queries, measured on the other, {halves.splits} times: "
            f"{value:.4f}; the best on all queries has {halves.best_of_all:.4f}. Chosen: {shares}. "
            f"The table above has it as “{CHOSEN}”.",
        ]
    described = {key: data[key] for key in data if key not in _LONG}
    sections += [
        "## What was measured",
        "```json\n" + json.dumps(described, ensure_ascii=False, indent=1) + "\n```",
        f"The queries that the means average over, and every value, are in `{REPORT}`.",
    ]
    return "\n\n".join(sections) + "\n"


_LONG = (
    "membership",
    "systems",
    "comparisons",
    "pool",
    "second_hop",
    "answers",
    "split_halves",
)
