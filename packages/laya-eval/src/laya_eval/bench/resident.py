"""What a process has in memory, and a process that holds a peer; it loads nothing of ours but that.

A module of its own, because a peer's process should not carry the weight of our engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from laya_eval.bench.peers import Peer
from laya_eval.bench.rivals import RIVALS
from laya_eval.bench.synthetic import WordVectors
from laya_eval.reading import json_objects

STATUS = Path("/proc/self/status")
# A question takes some of them a second or more.
_ASKED = 5


@dataclass(frozen=True, slots=True)
class Resident:
    """What a process has in memory, in MiB: what is its alone, and the most it ever had in all."""

    private: float
    peak: float


def resident() -> Resident:
    """What the calling process has now; Linux only."""
    fields = (line.split() for line in STATUS.read_text(encoding="utf-8").splitlines())
    found = {parts[0].rstrip(":"): parts[1] for parts in fields if len(parts) > 1}
    return Resident(int(found["RssAnon"]) / 1024, int(found["VmHWM"]) / 1024)


def hold(peer: Peer, corpus: Path, vectors: Path, questions: Sequence[str]) -> Resident:
    """Fill a peer with the passages of a file and their vectors, and answer.

    `vectors` is an `.npy` file with a row for each passage, in the order of the file. Raises
    `MissingPeerError`.
    """
    matrix = np.load(vectors, mmap_mode="r")
    rows = iter(range(len(matrix)))
    encoder = WordVectors()

    def stored(texts: Sequence[str]) -> list[list[float]]:
        found: list[list[float]] = [matrix[next(rows)].tolist() for _ in texts]
        return found

    def embed(texts: Sequence[str]) -> list[list[float]]:
        found: list[list[float]] = encoder.encode_queries(texts).tolist()
        return found

    rival = RIVALS[peer](dict(_texts(corpus)), stored, embed)
    for text in questions[:_ASKED]:
        rival.search(text)
    return resident()


def _texts(corpus: Path) -> Iterator[tuple[str, str]]:
    for _, row in json_objects(corpus):
        yield row["_id"], row["text"]
