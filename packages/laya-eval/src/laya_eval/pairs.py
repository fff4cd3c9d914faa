"""Labelled pairs of a query and a passage: `pairs.jsonl[.gz]`, one JSON object a line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from laya_eval.errors import DataError
from laya_eval.reading import json_objects


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A query, a passage, and whether the passage is relevant to it."""

    query: str
    passage: str
    relevant: bool
    #: Whether the passage answers the query; None where nobody said.
    answerable: bool | None = None
    #: What is held out together, an article say; None where nobody said. Split by it, not by row.
    group: str | None = None


def load_pairs(path: Path) -> tuple[LabelledPair, ...]:
    """The pairs in `path`; keys other than those of `LabelledPair` are ignored.

    Raises `DataError`, naming file and line, for a blank or missing text, a label that is neither
    true nor false (0 and 1 are taken), and a file without pairs.
    """
    pairs: list[LabelledPair] = []
    for place, row in json_objects(path):
        for key in ("query", "passage"):
            if not isinstance(row.get(key), str) or not row[key].strip():
                raise DataError(f"{place}: `{key}` must be a text that is not blank")
        relevant = row.get("relevant")
        answerable = row.get("answerable")
        if relevant not in (True, False):
            raise DataError(f"{place}: `relevant` must be true or false, not {relevant!r}")
        if answerable not in (True, False, None):
            raise DataError(f"{place}: `answerable` must be true or false, not {answerable!r}")
        group = row.get("group")
        if group is not None and (not isinstance(group, str | int) or group == ""):
            raise DataError(f"{place}: `group` must be a name, not {group!r}")
        pairs.append(
            LabelledPair(
                query=row["query"],
                passage=row["passage"],
                relevant=bool(relevant),
                answerable=None if answerable is None else bool(answerable),
                group=None if group is None else str(group),
            )
        )
    if not pairs:
        raise DataError(f"{path}: it has no pairs")
    return tuple(pairs)
