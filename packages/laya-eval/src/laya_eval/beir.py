"""Reading a data set in the layout of the BEIR benchmarks."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laya_eval.errors import EvalError


class DataError(EvalError):
    """A data set's file is missing or malformed; the message names file and line."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Queries with their relevance judgements.

    `queries` is id to text, `qrels` is query id to document id to grade; only queries that have a
    judgement are kept.
    """

    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]


def load_judged(folder: Path) -> Judged:
    """The queries and judgements in `folder`: `queries.jsonl[.gz]` and `qrels.tsv`.

    Judgements may also lie in `qrels/test.tsv`, as BEIR ships them. Raises `DataError`.
    """
    qrels: dict[str, dict[str, int]] = {}
    path = _first(folder, "qrels.tsv", "qrels/test.tsv")
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        cells = line.split("\t")
        if number == 1 and not cells[-1].lstrip("-").isdigit():
            continue  # the header
        if len(cells) != 3 or not cells[2].lstrip("-").isdigit():
            raise DataError(f"{path}:{number}: query id, document id and grade are wanted")
        qrels.setdefault(cells[0], {})[cells[1]] = int(cells[2])
    texts = {
        row["_id"]: row["text"]
        for row in _rows(_first(folder, "queries.jsonl", "queries.jsonl.gz"))
    }
    missing = sorted(qrels.keys() - texts.keys())
    if missing:
        raise DataError(f"{folder}: query {missing[0]!r} is judged but has no text")
    return Judged({name: texts[name] for name in qrels}, qrels)


def _first(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).exists():
            return folder / name
    raise DataError(f"{folder}: no {' or '.join(names)}")


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                row = json.loads(line)
                yield {"_id": str(row["_id"]), "text": str(row["text"])}
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(f"{path}:{number}: no JSON object with _id and text") from error
