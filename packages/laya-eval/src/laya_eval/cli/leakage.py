"""`laya eval leakage`: whether training data is in what is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from laya_rag.cli.finding import JsonOption
from laya_rag.cli.output import console, print_json

from laya_eval.cli.errors import reporting_eval_errors

_SHOWN = 20


@reporting_eval_errors
def leakage(
    train: Annotated[Path, typer.Argument(help="JSON lines that something was trained on.")],
    test: Annotated[Path, typer.Argument(help="JSON lines that it is measured on.")],
    field: Annotated[
        str, typer.Option(help="The field that holds the text, in both files.")
    ] = "text",
    document: Annotated[
        str | None, typer.Option(help="The field that names the document, in both files.")
    ] = None,
    jaccard: Annotated[
        float, typer.Option(help="Shingle Jaccard from which two texts are nearly the same.")
    ] = 0.8,
    shingle: Annotated[int, typer.Option(help="Words of a shingle.", min=1)] = 5,
    as_json: JsonOption = False,
) -> None:
    """Look for training texts in test data, and exit with 1 when there are any.

    A text of the test file leaks when it is in the training file, when one there is nearly the same
    (runs of words in common), or, with --document, when one there is from the same document.

    Examples:
        laya eval leakage train/pairs.jsonl test/pairs.jsonl --field passage --document group

        laya eval leakage train/queries.jsonl.gz test/queries.jsonl.gz --jaccard 0.6 --json

    """
    from dataclasses import asdict

    from laya_eval.leakage import find_leakage, read_entries

    found = find_leakage(
        read_entries(train, text=field, document=document),
        read_entries(test, text=field, document=document),
        jaccard=jaccard,
        shingle=shingle,
    )
    if as_json:
        print_json({**asdict(found), "by_kind": found.by_kind})
    else:
        screen = console()
        for overlap in found.overlaps[:_SHOWN]:
            likeness = f"(Jaccard {overlap.jaccard:.2f})"
            said = f"{overlap.test}: {overlap.kind} of {overlap.train} {likeness}"
            screen.print(said, soft_wrap=True)
        if len(found.overlaps) > _SHOWN:
            screen.print(f"… and {len(found.overlaps) - _SHOWN} more")
        kinds = ", ".join(f"{count} by {kind}" for kind, count in found.by_kind.items())
        screen.print(
            f"{len(found.overlaps)} of {found.test} test texts leaked from {found.train}: {kinds}."
        )
    if found.overlaps:
        raise typer.Exit(1)
