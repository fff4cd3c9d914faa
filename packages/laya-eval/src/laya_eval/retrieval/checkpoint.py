"""Results so far, query by query, so that a measurement that was killed can go on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row = TypeVar("Row", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one query found."""

    #: System to its ranked documents, best first.
    rankings: Mapping[str, list[str]]
    #: Leg to each relevant document that it found to that document's place, from 1.
    places: Mapping[str, dict[str, int]]
    #: Name that the second search looked for to what `places` has for a leg: its best places.
    probed: Mapping[str, dict[str, int]] = field(default_factory=dict)
    #: System to what was extracted from its first passages: see `Extracted`.
    answers: Mapping[str, dict[str, int]] = field(default_factory=dict)


class Checkpoint(Generic[Row]):
    """A file of one JSON line per query; its name holds the key of settings, corpus and data.

    Each line has the query's id and the fields of a `kind`, a dataclass of JSON values. Another
    key is another file, so results are never mixed. A line that a kill cut short is dropped.
    `discard` deletes the file once the report is written.
    """

    def __init__(self, folder: Path, key: str, kind: type[Row]) -> None:
        self.path = folder / f"checkpoint-{key}.jsonl"
        self._kind = kind

    def load(self) -> dict[str, Row]:
        """Every query that is there; what follows a damaged line is cut off the file."""
        found: dict[str, Row] = {}
        if not self.path.exists():
            return found
        data = self.path.read_bytes()
        good = 0
        for line in data.splitlines(keepends=True):
            try:
                row = json.loads(line)
                name = row.pop("query")
                found[name] = self._kind(**row)
            except (ValueError, TypeError, KeyError, AttributeError):
                break
            if not line.endswith(b"\n"):
                del found[name]
                break
            good += len(line)
        if good < len(data):
            with self.path.open("r+b") as file:
                file.truncate(good)
        return found

    @contextmanager
    def adding(self) -> Iterator[Callable[[str, Row], None]]:
        """Yields what adds a query by its id, and hands it to the operating system at once."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8", newline="\n") as file:

            def add(query: str, result: Row) -> None:
                row = {"query": query, **asdict(result)}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                file.flush()

            yield add

    def complete(
        self,
        queries: Iterable[str],
        compute: Callable[[str], Row],
        *,
        advance: Callable[[], None] = lambda: None,
    ) -> dict[str, Row]:
        """Every query's result, in order: from the file where it is there, else computed and added.

        `advance` is called after each.
        """
        known = self.load()
        found: dict[str, Row] = {}
        with self.adding() as add:
            for query in queries:
                if query not in known:
                    known[query] = compute(query)
                    add(query, known[query])
                found[query] = known[query]
                advance()
        return found

    def discard(self) -> None:
        """Delete the file."""
        self.path.unlink(missing_ok=True)
