"""What a check finds, and what comes of all checks of a stack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

#: Problems that a row lists; the others are counted.
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check saw: a line on what it did, what is wrong, and facts worth keeping as JSON."""

    detail: str
    problems: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """The result of one check; it passed when there is no problem."""

    check: str
    finding: Finding
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether the check found nothing wrong."""
        return not self.finding.problems

    def as_json(self) -> dict[str, Any]:
        """The row with stable keys."""
        return {
            "check": self.check,
            "passed": self.passed,
            "detail": self.finding.detail,
            "problems": list(self.finding.problems),
            "facts": dict(self.finding.facts),
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """All rows of one stack, in the order in which they are shown."""

    stack: str
    stack_hash: str
    seed: int
    rows: tuple[Row, ...]

    @property
    def passed(self) -> bool:
        """Whether every row passed."""
        return all(row.passed for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        """The verdict with stable keys."""
        return {
            "stack": self.stack,
            "stack_hash": self.stack_hash,
            "seed": self.seed,
            "passed": self.passed,
            "rows": [row.as_json() for row in self.rows],
            "seconds": round(sum(row.seconds for row in self.rows), 3),
        }


def first_of(problems: Iterable[str]) -> tuple[str, ...]:
    """The first few problems, and how many more there are."""
    listed = iter(problems)
    shown = tuple(islice(listed, _SHOWN))
    more = sum(1 for _ in listed)
    return (*shown, f"and {more} more") if more else shown


def counted(number: int, what: str) -> str:
    """`1 chunk`, `2 chunks`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
