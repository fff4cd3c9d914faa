"""The sample corpus: a harbour town in some fifty files of every kind that a source may meet.

Its texts lie in `documents/` with names (`{{email_office}}`) where a value is planted. What an
editor or a version control system would change (line endings, encodings, binary files) and what is
a copy is made here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType

from laya_index.sample.planted import planted_values

_NAME = re.compile(r"\{\{(\w+)\}\}")
_CRLF = frozenset({"harbour/fees.csv", "letters/complaint.txt", "museum/collection.md"})
_ENCODINGS = {
    "languages/german.txt": "latin-1",
    "letters/invoice.txt": "utf-16",
    "museum/gannets.md": "utf-8-sig",
}
_COPIES = {
    "copies/ferry.md": "harbour/ferry.md",
    "copies/2019/ferry.md": "harbour/ferry.md",
    "copies/complaint.txt": "letters/complaint.txt",
}
_BINARY = {"museum/mast.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256))}


@dataclass(frozen=True, slots=True)
class Question:
    """A question that the corpus answers; the passage that does so holds `answer` word by word."""

    text: str
    answer: str


@cache
def sample_files() -> Mapping[str, bytes]:
    """The content of every file of the corpus by its path, in path order."""
    made: dict[str, bytes] = dict(_BINARY)
    for path, text in _texts(files("laya_index.sample") / "documents"):
        filled = _NAME.sub(lambda match: planted_values()[match[1]], text)
        if path in _CRLF:
            filled = filled.replace("\n", "\r\n")
        made[path] = filled.encode(_ENCODINGS.get(path, "utf-8"))
    for copy, original in _COPIES.items():
        made[copy] = made[original]
    # The same words on other lines: a near duplicate.
    made["copies/ferry-in-one-line.md"] = b" ".join(made["harbour/ferry.md"].split())
    return MappingProxyType(dict(sorted(made.items())))


def questions() -> tuple[Question, ...]:
    """Questions in English, each answered by one sentence of the corpus or a copy of it."""
    return (
        Question("How many times a day does the ferry cross to Skerry?", "four times a day"),
        Question("When does the miller lift the sluice?", "two hours after high water"),
        Question("How often does the lighthouse flash?", "twice every fifteen seconds"),
        Question("What is the fine for an unreported oil spill?", "two thousand crowns"),
        Question("How fast may a vessel run inside the moles?", "faster than four knots"),
        Question("When did the fin whale strand on Skerry?", "in February 1926"),
        Question("How many gannet nests were there in 2023?", "4,310 nests in 2023"),
        Question("Which brig struck the reef in the fog?", "struck the Skerry reef"),
        Question("Who leads the gannet count?", "leads the gannet count"),
        Question("What is served at the herring feast?", "Smoked herring"),
        Question("What does a knitted puffin cost?", "puffin costs nine crowns"),
        Question("How often does the fog horn sound?", "sounds once a minute"),
        Question("Who rowed the lifeboat to the wreck?", "rowed the lifeboat"),
        Question("How often does the gauge write a line?", "every ninety seconds"),
        Question("What does the honey of the beehives taste of?", "sea lavender"),
        Question("What does the dredger do with the mud?", "onto the salt marsh"),
    )


def _texts(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        path = prefix + entry.name
        if entry.is_dir():
            yield from _texts(entry, f"{path}/")
        else:
            yield path, entry.read_bytes().decode()
