"""Whether what a model was trained on is in what it is measured on."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laya_eval.errors import DataError, MeasureError
from laya_eval.reading import json_objects

#: Words of a shingle, and the Jaccard similarity of shingles from which texts are near-duplicates.
SHINGLE = 5
JACCARD = 0.8


@dataclass(frozen=True, slots=True)
class Entry:
    """One text of a file: where it stands, and what document it is from, if the file says."""

    place: str
    text: str
    document: str | None = None


@dataclass(frozen=True, slots=True)
class Overlap:
    """A text of the test file that is in the training file too."""

    test: str
    train: str
    #: `document` (of the same one), `text` (equal when folded) or `near-duplicate`.
    kind: str
    #: Jaccard similarity of the shingles, 0..1.
    jaccard: float


@dataclass(frozen=True, slots=True)
class Leakage:
    """What a test file shares with a training file."""

    train: int
    test: int
    #: One for each text of the test file that leaked, the closest of what it leaked from.
    overlaps: tuple[Overlap, ...]

    @property
    def by_kind(self) -> dict[str, int]:
        """How many texts of the test file leaked in which way."""
        counts = Counter(overlap.kind for overlap in self.overlaps)
        return {kind: counts.get(kind, 0) for kind in ("document", "text", "near-duplicate")}


def read_entries(path: Path, *, text: str, document: str | None = None) -> list[Entry]:
    """The texts of a file of JSON lines; `text` and `document` name their fields.

    Raises `DataError`, naming file and line, for a line without the field, and an empty file.
    """
    entries: list[Entry] = []
    for place, row in json_objects(path):
        entries.append(
            Entry(
                place,
                _field(place, row, text),
                None if document is None else _field(place, row, document),
            )
        )
    if not entries:
        raise DataError(f"{path}: it has no lines")
    return entries


def find_leakage(
    train: Sequence[Entry],
    test: Sequence[Entry],
    *,
    jaccard: float = JACCARD,
    shingle: int = SHINGLE,
) -> Leakage:
    """Every text of `test` that is from a document of `train`, in `train`, or nearly so.

    Texts are folded (compatibility characters, letter case, punctuation, white space) and compared
    by the Jaccard similarity of their runs of `shingle` words, exactly: no hashing trick misses a
    pair. A text of fewer words is one shingle. Broder, "On the resemblance and containment of
    documents" (1997). Raises `MeasureError` for a threshold outside 0..1 or a shingle below 1.
    """
    if not 0 < jaccard <= 1 or shingle < 1:
        raise MeasureError("leakage needs a Jaccard threshold above 0, up to 1, and shingles")
    documents = {entry.document: entry.place for entry in reversed(train) if entry.document}
    folded = [_words(entry.text) for entry in train]
    texts = {tuple(words): entry.place for words, entry in zip(folded, train, strict=True) if words}
    bags = [_shingles(words, shingle) for words in folded]
    where: dict[tuple[str, ...], list[int]] = {}
    for row, bag in enumerate(bags):
        for piece in bag:
            where.setdefault(piece, []).append(row)
    overlaps: list[Overlap] = []
    for entry in test:
        words = _words(entry.text)
        same = texts.get(tuple(words))
        if same is not None:
            overlaps.append(Overlap(entry.place, same, "text", 1.0))
            continue
        likeness, near = _closest(_shingles(words, shingle), bags, where)
        if near is not None and likeness >= jaccard:
            overlaps.append(Overlap(entry.place, train[near].place, "near-duplicate", likeness))
        elif entry.document and entry.document in documents:
            place = documents[entry.document]
            overlaps.append(Overlap(entry.place, place, "document", likeness))
    return Leakage(len(train), len(test), tuple(overlaps))


def _closest(
    bag: frozenset[tuple[str, ...]],
    bags: Sequence[frozenset[tuple[str, ...]]],
    where: dict[tuple[str, ...], list[int]],
) -> tuple[float, int | None]:
    shared: Counter[int] = Counter()
    for piece in bag:
        shared.update(where.get(piece, ()))
    best: float = 0.0
    place: int | None = None
    for row, count in sorted(shared.items()):
        likeness = count / (len(bag) + len(bags[row]) - count)
        if likeness > best:
            best, place = likeness, row
    return best, place


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c if c.isalnum() else " " for c in folded).split()


def _shingles(words: Sequence[str], size: int) -> frozenset[tuple[str, ...]]:
    if not words:
        return frozenset()
    last = max(1, len(words) - size + 1)
    return frozenset(tuple(words[start : start + size]) for start in range(last))


def _field(place: str, row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise DataError(f"{place}: no text in field {name!r}")
    return str(value)
