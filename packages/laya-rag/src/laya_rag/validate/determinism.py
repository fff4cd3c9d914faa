"""Fresh runs give the same bytes, however the work is cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from laya_rag.validate.base import Finding, counted, first_of
from laya_rag.validate.compare import byte_differences, row_differences
from laya_rag.validate.trial import Trial

A = TypeVar("A")
B = TypeVar("B")


class OneAtATime:
    """An engine that hands the map stage one document at a time, in this process."""

    def map(self, function: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        """The results in order; an item is a shard's index and a batch of its documents."""
        for item in items:
            index, documents = _batch(item)
            for document in documents:
                yield function((index, [document]))  # type: ignore[arg-type]

    def close(self) -> None:
        """Nothing to let go of."""


def _batch(item: Any) -> tuple[int, list[Any]]:
    index, documents = item
    return index, documents


def check_determinism(trial: Trial) -> Finding:
    """A second fresh run in two worker processes gives the bytes of the first, which had none.

    A third takes the documents one by one and must give the same rows: what a passage gets may
    not depend on its neighbours. (Its bytes may differ, as Parquet pages follow the batches.)
    """
    first = trial.first
    workers = trial.build("two-workers", workers=2)
    problems = [f"with two workers: {text}" for text in byte_differences(first, workers)]
    trial.drop("two-workers")
    single = trial.build("one-at-a-time", engine=OneAtATime())
    problems += [f"one document at a time: {text}" for text in row_differences(first, single)]
    trial.drop("one-at-a-time")
    files = sum(1 for path in first.rglob("*") if path.is_file())
    return Finding(
        f"two fresh runs, with one and two workers: {counted(files, 'file')} byte-identical; "
        "the same rows one document at a time",
        first_of(problems),
    )
