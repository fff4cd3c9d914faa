"""The benchmarks by name, and running some of them."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from laya_eval.bench.machine import machine
from laya_eval.bench.row import Row
from laya_eval.bench.setup import Setup, Size
from laya_eval.errors import BenchError

#: Every benchmark, in the order in which they run: each is a module with `measure(setup)`.
NAMES = (
    "query",
    "ingest",
    "memory",
    "approximate",
    "bm25",
    "fusion",
    "packing",
    "tokens",
    "gate",
    "verification",
    "chunking",
    "stages",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Rows by benchmark, and what they were measured on and with."""

    rows: dict[str, list[Row]]
    machine: dict[str, str | float]
    size: Size
    data: str | None


def run(
    names: Sequence[str],
    size: Size,
    data: Path | None = None,
    *,
    began: Callable[[str], None] | None = None,
) -> Outcome:
    """Run the benchmarks `names`, or all; `began` is told the name of each.

    Raises `BenchError` for an unknown name and where two sides do not give the same result.
    """
    chosen = checked(names)
    facts = machine()
    rows: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory(prefix="laya-bench-") as folder:
        setup = Setup(Path(folder), size, data)
        for name in chosen:
            if began is not None:
                began(name)
            rows[name] = list(measure(name, setup))
    return Outcome(rows, facts, size, None if data is None else data.name)


def measure(name: str, setup: Setup) -> Iterator[Row]:
    """The rows of one benchmark."""
    found: Iterator[Row] = import_module(f"laya_eval.bench.{name}").measure(setup)
    return found


def checked(names: Sequence[str]) -> list[str]:
    """The names in the order of `NAMES`, all of them for none; raises `BenchError`."""
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise BenchError(f"no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    return [name for name in NAMES if not names or name in names]


def about(name: str) -> str:
    """The first line of what a benchmark's module says of itself."""
    text = inspect.getdoc(import_module(f"laya_eval.bench.{name}")) or ""
    return text.splitlines()[0]
