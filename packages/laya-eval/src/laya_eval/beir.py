"""Reading a data set in the layout of the BEIR benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from laya_eval.errors import DataError
from laya_eval.reading import file_sha256, json_objects, numbered_lines

#: Query id to document id to grade; a document is relevant from grade 1 on.
Qrels = Mapping[str, Mapping[str, int]]

_QUERIES = ("queries.jsonl", "queries.jsonl.gz")
_CORPUS = ("corpus.jsonl", "corpus.jsonl.gz")


@dataclass(frozen=True, slots=True)
class Judged:
    """Queries with their relevance judgements.

    `queries` is id to text, `qrels` is query id to document id to grade; only queries that have a
    judgement are kept.
    """

    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]

    @property
    def without_relevant(self) -> list[str]:
        """The queries for which no document is relevant: no measure of retrieval is defined."""
        return [name for name, grades in self.qrels.items() if max(grades.values()) <= 0]


def load_judged(folder: Path, *, split: str = "test") -> Judged:
    """The queries of `folder` (`queries.jsonl[.gz]`) and the judgements of one split.

    Judgements lie in `qrels/SPLIT.tsv`, as BEIR ships them, or beside the queries: `qrels.tsv` for
    `test`, `qrels_SPLIT.tsv` for another split. Raises `DataError`, naming file and line.
    """
    qrels = load_qrels(_qrels_file(folder, split))
    texts: dict[str, str] = {}
    seen: dict[str, str] = {}
    for place, row in json_objects(_first(folder, *_QUERIES)):
        if not all(isinstance(row.get(key), str | int) for key in ("_id", "text")):
            raise DataError(f"{place}: no JSON object with _id and text")
        name = str(row["_id"])
        if name in seen:
            raise DataError(f"{place}: query {name!r} was already given at {seen[name]}")
        seen[name] = place
        texts[name] = str(row["text"])
    missing = sorted(qrels.keys() - texts.keys())
    if missing:
        raise DataError(f"{folder}: query {missing[0]!r} is judged but has no text")
    return Judged({name: texts[name] for name in qrels}, qrels)


def load_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Judgements from a file of `query id`, `document id` and `grade`, parted by tabs.

    The first line may be a header. Raises `DataError` for a line of another shape, for a pair that
    is judged twice, and for a file without judgements.
    """
    qrels: dict[str, dict[str, int]] = {}
    for number, (place, line) in enumerate(numbered_lines(path)):
        cells = line.split("\t")
        if number == 0 and not _is_grade(cells[-1]):
            continue  # the header
        if len(cells) != 3 or not _is_grade(cells[2]):
            raise DataError(f"{place}: query id, document id and grade are wanted, tabs between")
        add_grade(qrels, place, cells[0], cells[1], cells[2])
    if not qrels:
        raise DataError(f"{path}: it has no judgements")
    return qrels


def add_grade(
    qrels: dict[str, dict[str, int]], place: str, query: str, document: str, grade: str
) -> None:
    """Put one judgement into `qrels`; raises `DataError` for a pair that has one already."""
    grades = qrels.setdefault(query, {})
    if document in grades:
        raise DataError(f"{place}: document {document!r} was already judged for query {query!r}")
    grades[document] = int(grade)


def corpus_file(folder: Path) -> Path:
    """The folder's `corpus.jsonl[.gz]`; raises `DataError` when it has none."""
    return _first(folder, *_CORPUS)


def data_hashes(folder: Path, *, split: str = "test") -> dict[str, str]:
    """The SHA-256 of each file that a measurement reads, by its name in the folder.

    The corpus is among them where the folder has it. Raises `DataError`.
    """
    files = [_first(folder, *_QUERIES), _qrels_file(folder, split)]
    files += [folder / name for name in _CORPUS if (folder / name).exists()]
    return hashes(folder, files)


def hashes(folder: Path, files: Iterable[Path]) -> dict[str, str]:
    """The SHA-256 of each of `files` by its name in `folder`; raises `DataError`."""
    return {path.relative_to(folder).as_posix(): file_sha256(path) for path in sorted(files)}


def _qrels_file(folder: Path, split: str) -> Path:
    beside = "qrels.tsv" if split == "test" else f"qrels_{split}.tsv"
    return _first(folder, beside, f"qrels/{split}.tsv")


def _first(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).exists():
            return folder / name
    raise DataError(f"{folder}: no {' or '.join(names)}")


def _is_grade(cell: str) -> bool:
    return cell.strip().removeprefix("-").isdecimal()
