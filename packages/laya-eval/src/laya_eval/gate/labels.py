"""Queries that somebody has labelled by whether the corpus answers them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from laya_signals.component import fingerprint_of

from laya_eval.beir import load_judged
from laya_eval.errors import DataError, LabelsError
from laya_eval.reading import numbered_lines


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """One query, and whether the corpus answers it."""

    #: From the file; the line's number where it has none.
    id: str
    query: str
    answerable: bool
    #: What is held out together: an article, a question type. None where nobody said.
    group: str | None = None
    #: Ids of the documents that are relevant to it, if known.
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Labels:
    """Labelled queries in the order of their file; at least one, ids distinct.

    Either every query has a group or none has.
    """

    queries: tuple[LabelledQuery, ...]

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits of all that the labels say."""
        return fingerprint_of([asdict(query) for query in self.queries])

    @property
    def groups(self) -> list[str] | None:
        """The group of every query, or None when they have none."""
        found = [query.group for query in self.queries if query.group is not None]
        return found or None

    @property
    def answerable(self) -> int:
        """How many are answerable."""
        return sum(query.answerable for query in self.queries)


def load_labels(path: Path) -> Labels:
    """Labels from a file of JSON lines, or from a folder in the layout of the BEIR benchmarks.

    A line of the file is `{"query": …, "answerable": true or false}`, with `group`, `documents` (a
    list of ids) and `id` where there are any; other keys are ignored. In a folder,
    `queries.jsonl[.gz]` has `_id`, `text`, `answerable` and perhaps `group`, and `qrels.tsv`, if
    there is one, the documents with a grade above 0. Raises `LabelsError`, naming file and line.
    """
    if not path.is_dir():
        return _checked(_file(path), path)
    names = ("queries.jsonl", "queries.jsonl.gz")
    found = next((path / name for name in names if (path / name).exists()), None)
    if found is None:
        raise LabelsError(f"{path}: no {' or '.join(names)}")
    documents = _judged(path)
    return _checked(
        (
            (place, replace(label, documents=documents.get(label.id, label.documents)))
            for place, label in _file(found)
        ),
        found,
    )


def _judged(folder: Path) -> dict[str, tuple[str, ...]]:
    if not any((folder / name).exists() for name in ("qrels.tsv", "qrels/test.tsv")):
        return {}
    try:
        qrels = load_judged(folder).qrels
    except DataError as error:
        raise LabelsError(str(error)) from error
    return {
        query: tuple(document for document, grade in grades.items() if grade > 0)
        for query, grades in qrels.items()
    }


def _checked(rows: Iterator[tuple[str, LabelledQuery]], path: Path) -> Labels:
    seen: dict[str, str] = {}
    queries: list[LabelledQuery] = []
    for place, label in rows:
        if label.id in seen:
            raise LabelsError(f"{place}: id {label.id!r} was already used at {seen[label.id]}")
        seen[label.id] = place
        if queries and (queries[0].group is None) != (label.group is None):
            has, had = ("no group", "one") if label.group is None else ("a group", "none")
            raise LabelsError(f"{place}: it has {has}, and those before it have {had}")
        queries.append(label)
    if not queries:
        raise LabelsError(f"{path}: it has no labels")
    return Labels(tuple(queries))


def _file(path: Path) -> Iterator[tuple[str, LabelledQuery]]:
    try:
        for place, line in numbered_lines(path):
            yield place, _label(line, place, place.rpartition(":")[2])
    except DataError as error:
        raise LabelsError(str(error)) from error


def _label(line: str, place: str, number: str) -> LabelledQuery:
    try:
        row: Any = json.loads(line)
    except ValueError as error:
        raise LabelsError(f"{place}: no JSON: {error}") from error
    if not isinstance(row, dict):
        raise LabelsError(f"{place}: a JSON object is wanted, not {type(row).__name__}")
    query = row.get("query", row.get("text"))
    if not isinstance(query, str) or not query.strip():
        raise LabelsError(f"{place}: `query` must be a text that is not blank")
    answerable = row.get("answerable")
    if not isinstance(answerable, bool):
        raise LabelsError(f"{place}: `answerable` must be true or false, not {answerable!r}")
    group = row.get("group")
    if group is not None and (not isinstance(group, str | int) or group == ""):
        raise LabelsError(f"{place}: `group` must be a name, not {group!r}")
    documents = row.get("documents", [])
    if not isinstance(documents, Sequence) or isinstance(documents, str):
        raise LabelsError(f"{place}: `documents` must be a list of ids, not {documents!r}")
    return LabelledQuery(
        id=str(row.get("id", row.get("_id", number))),
        query=query,
        answerable=answerable,
        group=None if group is None else str(group),
        documents=tuple(str(document) for document in documents),
    )
