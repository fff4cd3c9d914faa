"""The data folders that the study reads, and their lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from laya_eval.errors import DataError
from laya_eval.reading import file_sha256, json_objects

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DataSet:
    """A folder under the user's data folder, and what of it was trained on."""

    folder: str
    files: tuple[str, ...]
    #: Whether texts of this kind, others than these, trained the embedded model.
    kin: bool


DATA_SETS: dict[str, DataSet] = {
    one.folder: one
    for one in (
        DataSet(
            "squad2_dev",
            ("corpus.jsonl.gz", "pairs.jsonl.gz", "queries.jsonl.gz", "qrels.tsv"),
            kin=True,
        ),
        DataSet("medquad_sample", ("qa.jsonl.gz",), kin=True),
        DataSet("pubmedqa_labelled", ("qa.jsonl.gz",), kin=True),
        DataSet("anthropic_docs", ("corpus.jsonl.gz", "queries.jsonl.gz", "qrels.tsv"), kin=True),
        DataSet("wikiqa", ("pairs.jsonl.gz",), kin=False),
        DataSet(
            "scifact",
            ("corpus.jsonl.gz", "pairs.jsonl.gz", "queries.jsonl.gz", "qrels.tsv"),
            kin=False,
        ),
    )
}


def chosen(data: Path, only: Sequence[str]) -> tuple[str, ...]:
    """The folders to read, all or those of `only`, in their fixed order.

    Raises `DataError` for a folder that the study does not know, or a file that is not there.
    """
    if unknown := sorted(set(only) - DATA_SETS.keys()):
        raise DataError(
            f"the study has no data set {unknown[0]!r}; it has {', '.join(sorted(DATA_SETS))}"
        )
    names = tuple(name for name in DATA_SETS if not only or name in only)
    for name in names:
        for file in DATA_SETS[name].files:
            if not (data / name / file).exists():
                raise DataError(
                    f"{data / name}: no {file}; name the data sets that are there with --only"
                )
    return names


def hashes(data: Path, names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of every file that is read, by its name under `data`."""
    return {
        f"{name}/{file}": file_sha256(data / name / file)
        for name in names
        for file in DATA_SETS[name].files
    }


def rows(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of JSON lines; raises `DataError` for one that is no JSON object."""
    return [row for _, row in json_objects(path)]


def reading(name: str, load: Callable[[], T]) -> T:
    """What `load` gives; a key that a line of the data set lacks becomes a `DataError`."""
    try:
        return load()
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{name}: a line does not have the shape that the study knows: {error!r}"
        ) from error
