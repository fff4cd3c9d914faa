"""TREC's files: runs of `query Q0 document rank score tag`, qrels of `query 0 document grade`.

A run in memory is query id to ranked document ids, best first. Scores are written strictly
decreasing, as whole numbers: evaluators keep them in single precision and break ties by descending
id, so that anything finer could change the order that was meant.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from laya_eval.beir import Qrels, add_grade
from laya_eval.errors import DataError
from laya_eval.reading import numbered_lines

#: Query id to document ids, best first, none twice.
Run: TypeAlias = Mapping[str, Sequence[str]]


def read_run(path: Path) -> dict[str, list[str]]:
    """The run in `path`, plain or `.gz`, each query's documents as an evaluator would order them.

    That is by descending score, ties by descending id; the file's ranks and the order of its lines
    are ignored, as trec_eval does. Raises `DataError` for a line without six columns, a score that
    is not a finite number, a document named twice for a query, and an empty file.
    """
    scored: dict[str, dict[str, float]] = {}
    for place, line in numbered_lines(path):
        cells = line.split()
        if len(cells) != 6:
            raise DataError(
                f"{place}: query, Q0, document, rank, score and tag are wanted, "
                f"not {len(cells)} columns"
            )
        query, _, document, _, raw, _ = cells
        score = _number(raw)
        if score is None:
            raise DataError(f"{place}: score {raw!r} is no finite number")
        documents = scored.setdefault(query, {})
        if document in documents:
            raise DataError(f"{place}: document {document!r} stands twice for query {query!r}")
        documents[document] = score
    if not scored:
        raise DataError(f"{path}: it has no results")
    return {query: evaluated_order(documents) for query, documents in scored.items()}


def evaluated_order(scores: Mapping[str, float]) -> list[str]:
    """Document ids by descending score, ties by descending id: the order that trec_eval reads."""
    return sorted(scores, key=lambda document: (scores[document], document), reverse=True)


def scores_of(documents: Sequence[str]) -> dict[str, float]:
    """A strictly decreasing score for each ranked document: their number down to 1."""
    return {document: float(len(documents) - place) for place, document in enumerate(documents)}


def run_text(run: Run, *, tag: str) -> str:
    """`run` as the text of a TREC file; raises `DataError` for an id or a tag with white space."""
    lines: list[str] = []
    _check_columns([tag])
    for query, documents in run.items():
        _check_columns([query, *documents])
        for rank, (document, score) in enumerate(scores_of(documents).items(), start=1):
            lines.append(f"{query} Q0 {document} {rank} {score:.0f} {tag}\n")
    return "".join(lines)


def write_run(path: Path, run: Run, *, tag: str) -> None:
    """Write `run` to `path`; see `run_text`. Raises `OSError` when it cannot be written."""
    path.write_text(run_text(run, tag=tag), encoding="utf-8", newline="\n")


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """TREC judgements in `path`, plain or `.gz`.

    Raises `DataError` for a line without four columns, a grade that is no whole number, a pair
    judged twice, and an empty file.
    """
    qrels: dict[str, dict[str, int]] = {}
    for place, line in numbered_lines(path):
        cells = line.split()
        if len(cells) != 4 or not cells[3].removeprefix("-").isdecimal():
            raise DataError(f"{place}: query, 0, document and a whole grade are wanted")
        add_grade(qrels, place, cells[0], cells[2], cells[3])
    if not qrels:
        raise DataError(f"{path}: it has no judgements")
    return qrels


def write_qrels(path: Path, qrels: Qrels) -> None:
    """Write judgements to `path`; raises `DataError` for an id with white space."""
    lines: list[str] = []
    for query, grades in qrels.items():
        _check_columns([query, *grades])
        lines += [f"{query} 0 {document} {grade}\n" for document, grade in grades.items()]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def _check_columns(cells: Iterable[str]) -> None:
    for cell in cells:
        if len(cell.split()) != 1 or cell != cell.strip():
            raise DataError(f"{cell!r} has white space or is empty: a TREC file cannot hold it")


def _number(raw: str) -> float | None:
    try:
        value = float(raw)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
