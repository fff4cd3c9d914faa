"""Tables that a command writes into a page of the documentation, between two marker lines."""

from __future__ import annotations

from pathlib import Path

from laya_eval.errors import PageError
from laya_eval.writing import write_files


def markers(command: str) -> tuple[str, str]:
    """The lines between which `command` writes."""
    return f"<!-- {command}: begin -->", f"<!-- {command}: end -->"


def replaced(page: str, block: str, name: str, command: str) -> str:
    """`page` with `block` between the markers of `command`.

    Raises `PageError`, naming the page by `name`, when they are not there.
    """
    begin, end = markers(command)
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise PageError(f"{name} has no place for a table: put in the lines {begin} and {end}")
    return f"{before}{begin}\n\n{block}\n{end}{after}"


def check_page(page: Path, command: str) -> None:
    """Raise `PageError` unless `page` has the markers of `command`: before anything is measured."""
    replaced(page.read_text(encoding="utf-8"), "", str(page), command)


def write_page(page: Path, block: str, command: str) -> None:
    """Replace what is between the markers of `command` in the file `page`, as it is now."""
    text = replaced(page.read_text(encoding="utf-8"), block, str(page), command)
    write_files(page.parent, {page.name: text})
