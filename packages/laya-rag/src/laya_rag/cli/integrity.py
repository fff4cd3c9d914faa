"""`laya integrity`: whether a bundle is whole and current, and what it holds twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from laya_rag.cli.finding import DEFAULT_BUNDLE, JsonOption
from laya_rag.cli.output import console, print_json, printable, reporting_errors, size

if TYPE_CHECKING:
    from laya_index.integrity import Drift, IntegrityReport
    from laya_index.stack import Stack

# So many of a kind are named on the screen; --json has all of them.
_NAMED = 10

Row = tuple[str, str, Sequence[str]]


@reporting_errors
def integrity(
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", "-b", help="The bundle's folder (the stack's, or .laya/default)."),
    ] = None,
    stack: Annotated[
        Path | None,
        typer.Option(
            help="The stack file that built it; needed to look at the source.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    root: Annotated[
        Path | None, typer.Option(help="The folder that it indexed, if `process` was given one.")
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting that `process` was given.", metavar="KEY=VALUE"),
    ] = None,
    threshold: Annotated[
        float,
        typer.Option(help="Jaccard similarity from which documents are near duplicates.", max=1),
    ] = 0.8,
    limit: Annotated[
        int, typer.Option(help="Pairs of documents to compare at most; 0 for none.", min=0)
    ] = 50_000,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 for remarks too, not only for problems.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Check a bundle; change nothing.

    Problems are files that are damaged, missing or unknown to the manifest, and documents that were
    deleted, changed or added since the run: the exit code is then 1. Documents that are there
    twice, word for word or nearly, and ids that hold personal data are remarks.

    Examples:

        laya integrity --stack stacks/default.yaml

        laya integrity --bundle .laya/default --threshold 0.9 --json

    """  # noqa: D412
    from laya_index.integrity import check
    from laya_index.stack import load_stack

    from laya_rag.cli.progress import Bars, Lines, Quiet

    if not threshold > 0:
        raise typer.BadParameter("--threshold is a similarity above 0 and up to 1")
    if stack is None and (root is not None or sets):
        raise typer.BadParameter("--root and --set say how a stack was run: give --stack too")
    loaded: Stack | None = None
    if stack is not None:
        loaded = load_stack(stack, sets=sets or [], root=root, out=bundle)
    folder = bundle or (DEFAULT_BUNDLE if loaded is None else loaded.model.export.path)
    screen = console(stderr=True)
    kind = Quiet if quiet else Bars if screen.is_terminal else Lines
    with kind(screen, folder.name) as progress:
        report = check(folder, loaded, threshold=threshold, limit=limit, progress=progress)
    if as_json:
        print_json(report.as_json())
    else:
        _print(report)
    if not report.sound or (strict and report.remarkable):
        raise typer.Exit(1)


def _print(report: IntegrityReport) -> None:
    from rich.table import Table
    from rich.text import Text

    screen = console()
    screen.print(
        f"{report.bundle} ({report.stack}): {report.documents} documents, "
        f"{report.chunks} passages, {size(report.bytes)}",
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("check", no_wrap=True)
    table.add_column("result", no_wrap=True)
    table.add_column("found")
    styles = {"ok": "green", "problem": "red", "remark": "yellow", "unchecked": "dim"}
    for name, state, details in _rows(report):
        shown = [printable(line) for line in details[:_NAMED]]
        if len(details) > _NAMED:
            shown.append(f"and {len(details) - _NAMED} more; --json has all")
        table.add_row(name, Text(state, style=styles[state]), "\n".join(shown))
    screen.print(table)


def _rows(report: IntegrityReport) -> Iterator[Row]:
    damage = [f"{item.path}: {item.problem}, {item.detail}" for item in report.files]
    yield "files", "problem" if damage else "ok", damage
    if report.drift is not None:
        drift = list(_drift(report.drift))
        yield "source", "problem" if report.drift.stale else "ok", drift
    if report.duplicates is not None:
        groups = [" = ".join(group) for group in report.duplicates]
        yield "duplicates", "remark" if groups else "ok", groups
    if report.near is not None:
        pairs = [f"{p.first} ~ {p.second} ({p.similarity:.3f})" for p in report.near.pairs]
        if report.near.truncated:
            pairs.insert(0, f"stopped after {report.near.limit} pairs; raise --limit for more")
        yield "near duplicates", "remark" if pairs else "ok", pairs
    if report.identities is not None:
        ids = [f"{item.document} holds {', '.join(item.kinds)}" for item in report.identities]
        yield "ids", "remark" if ids else "ok", ids
    for name, why in report.unchecked.items():
        yield name, "unchecked", [why]


def _drift(drift: Drift) -> Iterator[str]:
    if drift.settings_changed:
        yield "the stack's settings are others than those that the bundle was built with"
    for name, why in drift.deleted.items():
        yield f"deleted {name}" + (f" (now skipped: {why})" if why else "")
    for label, names in (
        ("changed", drift.changed),
        ("new", drift.added),
        ("skipped, but another version or no longer there:", drift.outdated_skips),
    ):
        for name in names:
            yield f"{label} {name}"
