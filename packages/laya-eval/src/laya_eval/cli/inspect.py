"""`laya inspect`: a small corpus, searched on a page where every number can be traced."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from laya_rag.cli.finding import JsonOption
from laya_rag.cli.output import console, print_json

from laya_eval.cli.errors import reporting_eval_errors

app = typer.Typer(
    name="inspect",
    help="Build a page on which every rank and score of a small corpus can be traced.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

StackOption = Annotated[
    Path, typer.Option(help="The stack; its questions and answers lie beside its corpus.")
]


@app.command()
@reporting_eval_errors
def vectors(
    stack: StackOption = Path("stacks/inspectable.yaml"), as_json: JsonOption = False
) -> None:
    """Encode the paragraphs and the saved questions, and write `vectors.json` beside the corpus.

    On one type of processor the file comes out the same to the byte; another may round differently.

    Examples:
        laya inspect vectors

        laya inspect vectors --stack my/stack.yaml --json

    """
    from laya_eval.inspect.collection import load_collection
    from laya_eval.inspect.vectors import VECTORS, encode, vectors_text
    from laya_eval.writing import write_files

    collection = load_collection(stack)
    encoded = encode(collection)
    write_files(collection.folder, {VECTORS: vectors_text(encoded)})
    path = collection.folder / VECTORS
    counts = {"documents": len(encoded.documents), "queries": len(encoded.queries)}
    if as_json:
        print_json({"file": str(path), **counts})
        return
    console().print(
        f"Wrote {path}: {counts['documents']} paragraphs, {counts['queries']} questions."
    )


@app.command()
@reporting_eval_errors
def build(
    stack: StackOption = Path("stacks/inspectable.yaml"),
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Write the page to this folder.", file_okay=False)
    ] = Path("docs/inspectable"),
    as_json: JsonOption = False,
) -> None:
    """Rank the saved questions, and write the report and a page that shows how it came about.

    The page is a folder of static files, which works from a web server and when `index.html` is
    opened. Same sources, same bytes; `laya eval check docs/inspectable` compares them.

    Examples:
        laya inspect build

        laya inspect build --out public/inspectable --json

    """
    from laya_eval.inspect.collection import load_collection
    from laya_eval.inspect.site import site_files
    from laya_eval.inspect.vectors import load_vectors
    from laya_eval.writing import write_files

    collection = load_collection(stack)
    files = site_files(collection, load_vectors(collection))
    write_files(out, files)
    if as_json:
        print_json({"page": str(out / "index.html"), "files": sorted(files)})
        return
    console().print(f"Wrote {len(files)} files; open {out / 'index.html'}.")
