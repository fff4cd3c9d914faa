"""Search in a bundle on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from laya_index.bundle.manifest import Manifest
from laya_index.bundle.reader import BundleReader
from laya_retrieval.candidate import Candidate
from laya_retrieval.filters import Filter, parse_filter
from laya_retrieval.retrieve.backend import Capability
from laya_retrieval.retrieve.query import QueryBundle
from laya_signals import Encoder, Tokenizer, signals
from numpy.typing import NDArray

from laya_rag.backend.lexical import LexicalIndex
from laya_rag.errors import ModelMismatchError

#: What comes back with each candidate, and what can be filtered by.
FIELDS = (
    "document_id",
    "ordinal",
    "start",
    "end",
    "title",
    "heading_path",
    "media_type",
    "trust_tier",
    "tenants",
)


class BundleBackend:
    """Serves the legs that a bundle has signals for: BM25 over its postings, exact cosine.

    It pins the bundle as it is when opened. Texts and vectors are held in memory.

    Raises `ManifestError` or `BundleError` when the bundle cannot be read, and
    `ModelMismatchError`, with both fingerprints, when it was built with a tokenizer or an encoder
    whose results this installation cannot reproduce.
    """

    def __init__(self, path: Path) -> None:
        with BundleReader.open(path) as reader:
            self.path = path
            self.manifest: Manifest = reader.manifest
            table = reader.read("chunks", ["record_id", "content", *FIELDS])
            self._ids: list[str] = table["record_id"].to_pylist()
            self._texts = table["content"]
            self._metadata = {field: table[field] for field in FIELDS}
            self._tokenizer, self._lexical = self._open_lexical(reader)
            self._encoder, self._vectors = self._open_vectors(reader)

    def _open_lexical(self, reader: BundleReader) -> tuple[Tokenizer | None, LexicalIndex | None]:
        entry = self.manifest.bm25
        if entry is None:
            return None, None
        tokenizer = signals.resolve(entry.tokenizer, Tokenizer)
        self._require("tokenizer", entry.tokenizer_fingerprint, tokenizer.fingerprint)
        index = LexicalIndex(
            reader.read("bm25-terms"),
            reader.read("bm25-postings"),
            len(self._ids),
            average_length=entry.avg_doc_len,
            k1=entry.k1,
            b=entry.b,
        )
        return tokenizer, index

    def _open_vectors(
        self, reader: BundleReader
    ) -> tuple[Encoder | None, NDArray[np.float32] | None]:
        entry = self.manifest.embeddings.get("embedding")
        if entry is None:
            return None, None
        encoder = signals.resolve({"provider": entry.provider, "config": entry.config}, Encoder)
        self._require("encoder", entry.fingerprint, encoder.fingerprint)
        column = reader.read("chunks", ["embedding"])["embedding"].combine_chunks()
        return encoder, column.flatten().to_numpy().reshape(-1, entry.dimension)

    def _require(self, what: str, built: str, here: str) -> None:
        if built != here:
            raise ModelMismatchError(
                f"bundle {str(self.path)!r} was built with {what} {built}, this installation has "
                f"{here}; run `laya process` again to rebuild it"
            )

    @property
    def capabilities(self) -> frozenset[Capability]:
        """BM25 and DENSE where the bundle has the signal; FILTER always."""
        found = {Capability.FILTER}
        if self._lexical is not None:
            found.add(Capability.BM25)
        if self._vectors is not None:
            found.add(Capability.DENSE)
        return frozenset(found)

    def query(self, text: str, **options: Any) -> QueryBundle:
        """A query with every signal that this bundle can be searched with."""
        vector = None
        if self._encoder is not None and text.strip():
            vector = self._encoder.encode_queries([text])[0]
        return QueryBundle(text=text, vector=vector, **options)

    def search(self, query: QueryBundle) -> Mapping[str, list[Candidate]]:
        """The best `query.depth` chunks of every leg, by descending score, ties by id."""
        allowed = self._allowed(query.filters)
        legs: dict[str, list[Candidate]] = {}
        for leg in query.legs(self.capabilities):
            if leg == Capability.BM25.value and self._lexical and self._tokenizer:
                scores = self._lexical.scores(self._tokenizer.tokenize(query.text))
                legs[leg] = self._best(scores, query.depth, allowed & (scores > 0))
            elif leg == Capability.DENSE.value and self._vectors is not None:
                if query.vector is None or len(query.vector) != self._vectors.shape[1]:
                    raise ModelMismatchError(
                        f"the query's vector has {0 if query.vector is None else len(query.vector)}"
                        f" components, the bundle's have {self._vectors.shape[1]}"
                    )
                legs[leg] = self._best(self._vectors @ query.vector, query.depth, allowed)
        return legs

    def _allowed(self, filters: Filter | None) -> NDArray[np.bool_]:
        """Which chunks match, `(n,)`; raises `FilterError` for a field that chunks lack."""
        if filters is None:
            return np.ones(len(self._ids), dtype=bool)
        parse_filter(filters, fields=FIELDS)
        wanted = sorted(filters.fields())
        columns = [self._metadata[field].to_pylist() for field in wanted]
        rows = zip(*columns, strict=True)
        return np.fromiter(
            (filters.matches(dict(zip(wanted, row, strict=True))) for row in rows),
            dtype=bool,
            count=len(self._ids),
        )

    def _best(
        self, scores: NDArray[np.floating[Any]], depth: int, allowed: NDArray[np.bool_]
    ) -> list[Candidate]:
        rows = np.flatnonzero(allowed)
        if len(rows) > depth:
            # Everything that ties with the last place competes for it, so that ids decide.
            threshold = np.partition(scores[rows], len(rows) - depth)[len(rows) - depth]
            rows = rows[scores[rows] >= threshold]
        order = sorted(rows.tolist(), key=lambda row: (-float(scores[row]), self._ids[row]))
        return [self._candidate(row, float(scores[row])) for row in order[:depth]]

    def _candidate(self, row: int, score: float) -> Candidate:
        metadata = {field: column[row].as_py() for field, column in self._metadata.items()}
        return Candidate(self._ids[row], score, self._texts[row].as_py(), metadata)
