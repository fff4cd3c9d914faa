"""`laya delete`: documents out of a bundle, and kept out of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laya_rag.cli.finding import DEFAULT_BUNDLE, BundleOption, JsonOption
from laya_rag.cli.output import console, print_json, printable, reporting_errors

if TYPE_CHECKING:
    from laya_index.delete import DeleteReport

# So many documents are named on the screen; --json has all of them.
_NAMED = 20


@reporting_errors
def delete(
    documents: Annotated[
        list[str] | None,
        typer.Argument(help="Ids of documents, as `laya documents` shows them.", metavar="[ID]..."),
    ] = None,
    bundle: BundleOption = DEFAULT_BUNDLE,
    paths: Annotated[
        list[str] | None,
        typer.Option(
            "--path",
            help="Every document whose id matches, as in a .gitignore file. May be repeated.",
            metavar="GLOB",
        ),
    ] = None,
    restore: Annotated[
        list[str] | None,
        typer.Option(
            help="Let `laya process` index this document again. May be repeated.", metavar="ID"
        ),
    ] = None,
    next_run: Annotated[
        bool,
        typer.Option("--next-run", help="Leave them to the next `laya process` to take out."),
    ] = False,
    listed: Annotated[
        bool, typer.Option("--list", help="Only list the documents that were deleted.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would change; write nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Take documents out of a bundle, without needing their sources.

    The bundle becomes byte for byte the one that a source without these documents gives. It keeps a
    list of their ids, so that the next `laya process` leaves them out although the source still has
    them; `--restore` takes an id off that list. Where other documents' rows depend on these
    (`chars: auto`, or a graph without the cache beside the bundle), `--next-run` puts ids on the
    list only. Vectors of deleted passages stay in that cache, by the hash of their text, until a
    run drops them; the cache may be removed.

    Examples:

        laya delete notes/march.md --bundle .laya/notes --dry-run
        laya delete --path "drafts/**" --yes
        laya delete --restore notes/march.md

    """  # noqa: D412
    from laya_index.delete import delete as remove
    from laya_index.delete import restore as bring_back

    if sum((bool(documents or paths), bool(restore), listed)) != 1:
        raise typer.BadParameter("name documents, or --path, or --restore, or --list")
    if listed:
        _print_list(bundle, as_json=as_json)
        return
    if restore:
        report = bring_back(bundle, restore, dry_run=dry_run)
    else:
        ids, patterns = documents or [], paths or []
        report = remove(bundle, ids, patterns=patterns, next_run=next_run, dry_run=True)
        if not dry_run:
            _confirm(report, yes=yes)
            report = remove(bundle, ids, patterns=patterns, next_run=next_run)
    if as_json:
        print_json(_as_json(report))
    else:
        _print(report)


def _confirm(report: DeleteReport, *, yes: bool) -> None:
    if yes or not report.deleted:
        return
    if not _somebody_is_there():
        raise typer.BadParameter("nobody can be asked here; confirm with --yes")
    names = "\n".join(f"  {printable(name)}" for name in report.deleted[:_NAMED])
    more = len(report.deleted) - _NAMED
    typer.echo(names + (f"\n  and {more} more" if more > 0 else ""), err=True)
    noun = "document" if len(report.deleted) == 1 else "documents"
    typer.confirm(f"Delete {len(report.deleted)} {noun}?", abort=True, err=True)


def _somebody_is_there() -> bool:
    return sys.stdin.isatty()


def _as_json(report: DeleteReport) -> dict[str, Any]:
    return {
        "bundle": str(report.path),
        "state": report.state,
        "deleted": list(report.deleted),
        "listed": list(report.listed),
        "restored": list(report.restored),
        "excluded": list(report.excluded),
        "documents": report.documents,
        "chunks": report.chunks,
    }


def _print(report: DeleteReport) -> None:
    screen = console()
    would = "would be " if report.state == "dry run" else ""
    for label, names in (
        (f"{would}deleted", report.deleted),
        ("on the list", report.listed),
        (f"{would}restored", report.restored),
    ):
        for name in names[:_NAMED]:
            screen.print(f"{label} {printable(name)}", soft_wrap=True)
        if len(names) > _NAMED:
            screen.print(f"{label} {len(names) - _NAMED} more")
    screen.print(f"{report.documents} documents, {report.chunks} passages", style="dim")
    if report.deleted or report.listed:
        screen.print(
            "`laya process` leaves them out from now on; `laya delete --restore ID` lifts that",
            style="dim",
            soft_wrap=True,
        )
    if report.restored:
        screen.print("the next `laya process` indexes them again", style="dim", soft_wrap=True)


def _print_list(bundle: Path, *, as_json: bool) -> None:
    from laya_index.bundle.manifest import read_manifest

    excluded = read_manifest(bundle).excluded
    if as_json:
        print_json({"bundle": str(bundle), "excluded": excluded})
        return
    for name in excluded:
        typer.echo(printable(name))
