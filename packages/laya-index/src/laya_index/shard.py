"""Which shard a document lives in, and documents spooled by shard."""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import IO

from laya_signals.component import fingerprint_of

from laya_index.document import SourceDocument

#: Documents per shard to aim for; shard counts are powers of two up to `BUCKETS`.
SHARD_DOCUMENTS = 1024
BUCKETS = 256


def shard_count(documents: int) -> int:
    """How many shards a corpus of this size has: a power of two, at most 256.

    It depends on the corpus alone, never on how the bundle came about, because a bundle that was
    built step by step must equal one that was built at once.
    """
    count = 1
    while count < BUCKETS and documents > count * SHARD_DOCUMENTS:
        count *= 2
    return count


def bucket_of(document_id: str) -> int:
    """The first byte of the id's SHA-256; shard `s` of `n` holds buckets `256 s / n` and on."""
    return hashlib.sha256(document_id.encode()).digest()[0]


def ids_by_shard(document_ids: Iterable[str], count: int) -> list[list[str]]:
    """The ids of each of `count` shards, ascending."""
    width = BUCKETS // count
    shards: list[list[str]] = [[] for _ in range(count)]
    for name in sorted(document_ids):
        shards[bucket_of(name) // width].append(name)
    return shards


def shard_inputs(fingerprint: str, index: int, documents: Iterable[tuple[str, str]]) -> str:
    """Identifies what a shard's files are made from.

    `fingerprint` is the pipeline's, `documents` are the shard's ids, ascending, with their digests.
    """
    return fingerprint_of([fingerprint, index, list(documents)])


class Spool:
    """Documents by bucket: in memory at first, in a temporary file once they are many.

    A source is read once, in its own order; the pipeline wants one shard after the other. The file
    has no name, so a killed run leaves no raw text behind.
    """

    def __init__(self, memory: int = 64 * 1024 * 1024) -> None:
        self._limit = memory
        self._held = 0
        self._buckets: list[list[SourceDocument]] = [[] for _ in range(BUCKETS)]
        self._places: list[list[int]] = [[] for _ in range(BUCKETS)]
        self._file: IO[bytes] | None = None
        #: The digest of every document by id.
        self.digests: dict[str, str] = {}

    def add(self, document: SourceDocument) -> None:
        """Keep a document; raises `ValueError` for an id that was added before."""
        if document.id in self.digests:
            raise ValueError(f"document id {document.id!r} occurs twice")
        self.digests[document.id] = document.digest
        self._buckets[bucket_of(document.id)].append(document)
        self._held += len(document.text) + 1000
        if self._held > self._limit:
            self._spill()

    def shard(self, index: int, count: int) -> list[SourceDocument]:
        """The documents of one shard, by ascending id."""
        width = BUCKETS // count
        found: list[SourceDocument] = []
        for bucket in range(index * width, (index + 1) * width):
            found.extend(self._spilled(bucket))
            found.extend(self._buckets[bucket])
        return sorted(found, key=lambda document: document.id)

    def ids_by_shard(self, count: int) -> list[list[str]]:
        """The ids of every shard, ascending."""
        return ids_by_shard(self.digests, count)

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="laya-spool-")  # noqa: SIM115 - see __exit__
        self._file.seek(0, os.SEEK_END)
        for documents, places in zip(self._buckets, self._places, strict=True):
            if documents:
                places.append(self._file.tell())
                pickle.dump(documents, self._file, protocol=pickle.HIGHEST_PROTOCOL)
                documents.clear()
        self._held = 0

    def _spilled(self, bucket: int) -> Iterator[SourceDocument]:
        if self._file is None:
            return
        for place in self._places[bucket]:
            self._file.seek(place)
            # Written by this very process into its own temporary file.
            yield from pickle.load(self._file)  # noqa: S301

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
