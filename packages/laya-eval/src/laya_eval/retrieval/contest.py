"""What `laya eval compare` compares: systems of reports, and run files, query by query."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from laya_eval.beir import load_judged
from laya_eval.comparison import Comparison, Contest, Values, paired_differences
from laya_eval.errors import DataError, UnknownSystemError
from laya_eval.markdown import markdown_table
from laya_eval.metrics import drop_identical, per_query
from laya_eval.plot.win_loss import win_loss_svg
from laya_eval.retrieval.check import read_report
from laya_eval.retrieval.report import comparison_table, slug
from laya_eval.trec import read_run


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two that are compared."""

    #: As it was named.
    name: str
    #: System to measure to query to value.
    systems: Mapping[str, Mapping[str, Values]]
    #: The hashes of queries and judgements, by file; None for a run file.
    judged: Mapping[str, str] | None


def read_side(
    name: str,
    measures: Sequence[str],
    *,
    data: Path | None = None,
    split: str = "test",
    keep_identical_ids: bool = False,
) -> Side:
    """A report's folder, one system of it (`REPORT#SYSTEM`), or a TREC run with `data` to judge it.

    Raises `DataError` for what cannot be read, for a run without data, and for a measure that the
    report lacks; `UnknownSystemError` for a system that the report lacks.
    """
    place, _, system = name.partition("#")
    if Path(name).is_file():
        return _run_side(name, measures, data, split, keep_identical_ids)
    report = read_report(Path(place))
    queries = report["membership"]["queries"]
    systems = report["systems"]
    if system and system not in systems:
        raise UnknownSystemError(f"{place} has no system {system!r}; it has {', '.join(systems)}")
    for measure in measures:
        if any(measure not in found["values"] for found in systems.values()):
            known = ", ".join(next(iter(systems.values()))["values"])
            raise DataError(f"{place} has no measure {measure!r}; it has {known}")
    return Side(
        name=place,
        systems={
            key: {
                measure: dict(zip(queries, found["values"][measure], strict=True))
                for measure in measures
            }
            for key, found in systems.items()
            if system in ("", key)
        },
        judged={
            file: digest
            for file, digest in report["data"]["sha256"].items()
            if file.startswith(("queries", "qrels"))
        },
    )


def contests(a: Side, b: Side, measures: Sequence[str]) -> list[Contest]:
    """What is tested: `b` against the baseline `a`, in one system each or in all that both have.

    Raises `DataError` when two reports rest on other queries or judgements, and
    `UnknownSystemError` when there is nothing to compare.
    """
    if a.judged is not None and b.judged is not None and a.judged != b.judged:
        raise DataError(f"{a.name} and {b.name} were measured on other queries or judgements")
    if len(a.systems) == len(b.systems) == 1:
        pairs = [(next(iter(a.systems)), next(iter(b.systems)))]
    else:
        pairs = [(name, name) for name in a.systems if name in b.systems]
    if not pairs:
        raise UnknownSystemError(
            f"{a.name} and {b.name} have no system in common: name one of each with #SYSTEM"
        )
    return [
        Contest(
            name=_full_name(b.name, theirs),
            baseline=_full_name(a.name, ours),
            measure=measure,
            values=b.systems[theirs][measure],
            baseline_values=a.systems[ours][measure],
        )
        for ours, theirs in pairs
        for measure in measures
    ]


def comparison_files(family: Sequence[Contest], found: Sequence[Comparison]) -> dict[str, str]:
    """`compare.md`, `compare.json` with every query's difference, and a plot of each contest."""
    files: dict[str, str] = {}
    links: list[str] = []
    rows: list[dict[str, object]] = []
    for contest, comparison in zip(family, found, strict=True):
        differences = paired_differences(contest)
        stem = slug(f"{contest.name}-{contest.measure}")
        files[f"win-loss-{stem}.svg"] = win_loss_svg(
            differences,
            name=contest.name,
            baseline=contest.baseline,
            measure=contest.measure,
        )
        links.append(f"![{contest.name} in {contest.measure}](win-loss-{stem}.svg)")
        queries = dict(zip(contest.baseline_values, differences.tolist(), strict=True))
        rows.append({**asdict(comparison), "queries": queries})
    page = ["# Comparison", markdown_table(comparison_table(found)), *links]
    files["compare.md"] = "\n\n".join(page) + "\n"
    files["compare.json"] = json.dumps({"comparisons": rows}, ensure_ascii=False, indent=1) + "\n"
    return files


def _run_side(
    name: str, measures: Sequence[str], data: Path | None, split: str, keep_identical_ids: bool
) -> Side:
    if data is None:
        raise DataError(f"{name} is a run file: give the judgements with --data")
    judged = load_judged(data, split=split)
    run = {
        query: documents if keep_identical_ids else drop_identical(documents, query)
        for query, documents in read_run(Path(name)).items()
    }
    if not run.keys() & judged.qrels.keys():
        raise DataError(f"{name}: none of its queries is judged in {data}")
    return Side(name, {"": per_query(run, judged.qrels, measures)}, None)


def _full_name(side: str, system: str) -> str:
    return f"{side}#{system}" if system else side
