"""Results so far, query by query, so that a measurement that was killed can go on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one query found."""

    #: System to its ranked documents, best first.
    rankings: Mapping[str, list[str]]
    #: Leg to each relevant document that it found to that document's place, from 1.
    places: Mapping[str, dict[str, int]]


class Checkpoint:
    """A file of one JSON line per query; its name holds the key of settings, corpus and data.

    Another key is another file, so results are never mixed. A line that a kill cut short is
    dropped. `discard` deletes the file once the report is written.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.path = folder / f"checkpoint-{key}.jsonl"

    def load(self) -> dict[str, Retrieved]:
        """Every query that is there; what follows a damaged line is cut off the file."""
        found: dict[str, Retrieved] = {}
        if not self.path.exists():
            return found
        data = self.path.read_bytes()
        good = 0
        for line in data.splitlines(keepends=True):
            try:
                row = json.loads(line)
                name = row.pop("query")
                found[name] = Retrieved(**row)
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
    def adding(self) -> Iterator[Callable[[str, Retrieved], None]]:
        """Yields what adds a query by its id, and hands it to the operating system at once."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8", newline="\n") as file:

            def add(query: str, retrieved: Retrieved) -> None:
                row = {"query": query, **asdict(retrieved)}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                file.flush()

            yield add

    def discard(self) -> None:
        """Delete the file."""
        self.path.unlink(missing_ok=True)
