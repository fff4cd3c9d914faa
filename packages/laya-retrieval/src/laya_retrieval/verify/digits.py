"""Reads a run of digits with separators: which values its grouping and decimal marks allow.

| form                          | readings                                              |
|-------------------------------|-------------------------------------------------------|
| `1200`, `1,200.00`, `1.200,00`, `1,234,567`, `12,34,567` | the one value              |
| `3.14`, `3,14`, `0,123`, `1234,567`                      | a decimal fraction         |
| `1,234`, `1.234`              | both, unless the text shows its decimal mark          |
| `1,2,3`                       | a list                                                |
| `1.2.3`, `192.168.0.1`        | a version or address: no value                        |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["AMBIGUOUS", "Digits", "read_run", "shifted", "shown_decimal"]

#: Three digits behind a single separator: a group or a fraction.
AMBIGUOUS = re.compile(r"(?!0)\d{1,3}[.,]\d{3}")

_LONGEST = 60  # a longer run of digits is a key, not a quantity


@dataclass(frozen=True, slots=True)
class Digits:
    """A piece of a run and its values; without `readings` it is a version, compared as written."""

    start: int
    end: int
    form: str
    readings: tuple[Decimal, ...] = ()
    doubtful: tuple[Decimal, ...] = ()
    parts: tuple[Digits, ...] = ()


def read_run(run: str, decimal: str) -> list[Digits]:
    """The numbers in a run of ASCII digits, commas and points.

    `decimal` is the decimal mark that the text is known to use, or "". A list of numbers without
    spaces gives several; `1,2` gives one, whose `parts` are the two of the list it may be.
    """
    return _read(run, 0, decimal)


def _read(run: str, offset: int, decimal: str) -> list[Digits]:
    if len(run) <= _LONGEST:
        values = _values(run, decimal)
        if values is not None:
            parts: tuple[Digits, ...] = ()
            if re.fullmatch(r"(?!0)\d+,(?!0)\d{1,3}", run) and not AMBIGUOUS.fullmatch(run):
                parts = tuple(_listed(run, offset, decimal))
            readings, doubtful = values
            return [Digits(offset, offset + len(run), run, readings, doubtful, parts)]
        if "," in run:
            return _listed(run, offset, decimal)
    form = ".".join(part.lstrip("0") or "0" for part in run.split("."))
    return [Digits(offset, offset + len(run), form)]


def _listed(run: str, offset: int, decimal: str) -> list[Digits]:
    """The pieces between the commas, each read alone."""
    pieces = []
    for piece in run.split(","):
        pieces.extend(_read(piece, offset, decimal))
        offset += len(piece) + 1
    return pieces


def _values(run: str, decimal: str) -> tuple[tuple[Decimal, ...], tuple[Decimal, ...]] | None:
    """Readings and doubtful readings of a run, or None when it is no single number."""
    groups = re.split("[.,]", run)
    marks = [character for character in run if character in ".,"]
    if not marks:
        return (Decimal(run),), ()
    whole = Decimal("".join(groups))
    fraction = Decimal("".join(groups[:-1]) + "." + groups[-1])
    if len(marks) == 1:
        if not AMBIGUOUS.fullmatch(run):
            return (fraction,), ()
        if not decimal:
            return (whole, fraction), ()
        return ((fraction,), (whole,)) if decimal == marks[0] else ((whole,), (fraction,))
    if len(set(marks)) == 1:
        return ((whole,), ()) if _is_grouped(groups) else None
    if marks[-1] not in marks[:-1] and len(set(marks[:-1])) == 1 and _is_grouped(groups[:-1]):
        return (fraction,), ()
    return None


def _is_grouped(groups: Sequence[str]) -> bool:
    """Whether the groups are thousands, or thousands and then hundreds as in India."""
    first, *rest = (len(group) for group in groups)
    if groups[0].startswith("0") or not rest or rest[-1] != 3:
        return False
    western = first <= 3 and all(size == 3 for size in rest)
    indian = first <= 2 and all(size == 2 for size in rest[:-1])
    return western or indian


def shown_decimal(run: str) -> str:
    """The decimal mark that the form of `run` gives away; "" when it allows both."""
    marks = [character for character in run if character in ".,"]
    if not marks or _values(run, "") is None or AMBIGUOUS.fullmatch(run):
        return ""
    if len(marks) > 1 and len(set(marks)) == 1:  # a grouping mark: the decimal mark is the other
        return "," if marks[0] == "." else "."
    return marks[-1]


def shifted(value: Decimal, power: int) -> Decimal:
    """`value` × 10^`power`, exactly, whatever the decimal context."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # noqa: S101 - values here are finite
    return Decimal((sign, digits, exponent + power))
