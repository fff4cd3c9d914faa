"""BM25 over the candidates' own text, with the pool's statistics or a corpus's."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from laya_signals.bm25 import inverse_document_frequency, saturation
from laya_signals.component import Component, ComponentConfig, fingerprint_of
from laya_signals.errors import MissingExtraError
from laya_signals.registry import ProviderBlock, signals
from laya_signals.tokenize.base import Tokenizer
from pydantic import BeforeValidator, Field, InstanceOf, PlainSerializer

from laya_retrieval.candidate import Candidate, ranked, rescored
from laya_retrieval.errors import Bm25Error


@dataclass(frozen=True, slots=True)
class Bm25Stats:
    """What BM25 must know about a corpus.

    `doc_freq` is term to the number of documents that have it; `avg_doc_len` counts terms.
    `tokenizer` and `tokenizer_fingerprint` say how the terms were made, where that is known: other
    terms would silently score nothing. Raises `Bm25Error` for statistics that no corpus can have:
    no documents, a frequency above their number or below 0, a number that is not finite.
    """

    doc_count: int
    avg_doc_len: float
    doc_freq: Mapping[str, int] = field(repr=False)
    tokenizer: ProviderBlock | None = None
    tokenizer_fingerprint: str | None = None

    def __post_init__(self) -> None:
        if not _whole(self.doc_count) or self.doc_count <= 0:
            raise Bm25Error(f"doc_count must be a whole number above 0, not {self.doc_count!r}")
        length = self.avg_doc_len
        if isinstance(length, bool) or not isinstance(length, int | float):
            raise Bm25Error(f"avg_doc_len must be a number, not {length!r}")
        if not math.isfinite(length) or length <= 0:
            raise Bm25Error(f"avg_doc_len must be finite and above 0, not {length!r}")
        if not isinstance(self.doc_freq, Mapping):
            raise Bm25Error(f"doc_freq maps terms to counts, it is no {type(self.doc_freq)}")
        for term, count in self.doc_freq.items():
            if not _whole(count) or not 0 <= count <= self.doc_count:
                raise Bm25Error(
                    f"doc_freq of {term!r} is {count!r}, not a whole number in "
                    f"0..{self.doc_count} (doc_count)"
                )
        object.__setattr__(self, "doc_freq", MappingProxyType(dict(self.doc_freq)))

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Bm25Stats:
        """From a configuration block with the fields' names. Raises `Bm25Error`."""
        known = {item.name for item in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise Bm25Error(f"statistics: unknown key {unknown[0]!r}; known are {sorted(known)}")
        given = dict(values)
        if isinstance(given.get("tokenizer"), Mapping):
            given["tokenizer"] = ProviderBlock.model_validate(given["tokenizer"])
        try:
            return cls(**given)
        except TypeError as error:
            raise Bm25Error(f"statistics: {error}") from error

    @classmethod
    def from_bundle(cls, path: str | Path) -> Bm25Stats:
        """The exact statistics of a bundle, and the tokenizer that made its terms.

        Needs pyarrow (`MissingExtraError` without it). Raises `Bm25Error` when the folder has no
        manifest, the manifest no BM25 statistics, or a file it lists is missing or damaged.
        """
        folder = Path(path)
        try:
            manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Bm25Error(f"{folder} has no readable manifest.json: {error}") from error
        block = manifest.get("bm25")
        files = [f["path"] for f in manifest.get("files", ()) if f.get("kind") == "bm25-terms"]
        if not isinstance(block, Mapping) or not files:
            raise Bm25Error(f"bundle {folder} was built without BM25 statistics")
        try:
            from pyarrow import ArrowException, parquet
        except ImportError as error:
            raise MissingExtraError(
                "reading a bundle's statistics needs pyarrow: install laya-retrieval[bundle]"
            ) from error
        doc_freq: dict[str, int] = {}
        for name in files:
            try:
                table = parquet.read_table(folder / name, columns=["term", "df"])
            except (OSError, ArrowException) as error:
                raise Bm25Error(f"cannot read {name} of bundle {folder}: {error}") from error
            doc_freq.update(zip(table["term"].to_pylist(), table["df"].to_pylist(), strict=True))
        try:
            return cls(
                doc_count=block["doc_count"],
                avg_doc_len=block["avg_doc_len"],
                doc_freq=doc_freq,
                tokenizer=ProviderBlock.model_validate(block["tokenizer"]),
                tokenizer_fingerprint=block["tokenizer_fingerprint"],
            )
        except KeyError as error:
            raise Bm25Error(f"bundle {folder}: the manifest's bm25 block lacks {error}") from error

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits of everything that decides a score."""
        return fingerprint_of(_dump(self))


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _load(value: Any) -> Any:
    return Bm25Stats.from_mapping(value) if isinstance(value, Mapping) else value


def _dump(stats: Bm25Stats) -> dict[str, Any]:
    return {
        "doc_count": int(stats.doc_count),
        "avg_doc_len": float(stats.avg_doc_len),
        "doc_freq": {term: int(count) for term, count in stats.doc_freq.items()},
        "tokenizer_fingerprint": stats.tokenizer_fingerprint,
    }


class Bm25Config(ComponentConfig):
    """Settings of `processor.bm25`."""

    #: How fast repeats of a term stop counting.
    k1: float = Field(default=1.5, ge=0, allow_inf_nan=False)
    #: How much a long text is held back, 0 (not at all) to 1 (in full).
    b: float = Field(default=0.75, ge=0, le=1)
    #: A corpus's statistics; None takes them from the candidates at hand.
    stats: (
        Annotated[InstanceOf[Bm25Stats], BeforeValidator(_load), PlainSerializer(_dump)] | None
    ) = None
    #: Which tokenizer; None takes the one of `stats`, else words without stemming.
    tokenizer: ProviderBlock | None = None


class Bm25Rescorer(Component[Bm25Config]):
    """Replaces each score by BM25 of the query against the candidate's text.

    The inverse document frequency is `ln(1 + (N - df + .5) / (df + .5))`, never negative; a term
    that the query repeats counts as often. Without `stats` the pool is the corpus. Source:
    Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).

    `tokenizer=` takes one that is built already. Raises `Bm25Error` when `stats` were made with a
    tokenizer of another fingerprint.
    """

    Config = Bm25Config

    def __init__(
        self,
        config: Mapping[str, Any] | Bm25Config | None = None,
        /,
        *,
        tokenizer: Tokenizer | Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        if isinstance(tokenizer, Mapping):
            settings["tokenizer"] = tokenizer
            tokenizer = None
        super().__init__(config, **settings)
        stats = self.config.stats
        block = self.config.tokenizer or (stats.tokenizer if stats else None)
        if tokenizer is None:
            tokenizer = signals.resolve(block or {"provider": "tokenizer.word"}, Tokenizer)
        if (
            stats is not None
            and stats.tokenizer_fingerprint is not None
            and stats.tokenizer_fingerprint != tokenizer.fingerprint
        ):
            raise Bm25Error(
                f"the statistics were made with tokenizer {stats.tokenizer_fingerprint}, this one "
                f"is {tokenizer.fingerprint}: their terms would not match; use the tokenizer that "
                "the statistics name"
            )
        self.tokenizer: Tokenizer = tokenizer

    def fingerprint_extra(self) -> Any:
        """The tokenizer decides the terms."""
        return self.tokenizer.fingerprint

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates by BM25 score; a candidate without a query term scores 0.0."""
        if not candidates:
            return []
        asked = Counter(self.tokenizer.tokenize(query))
        scores = np.zeros(len(candidates))
        if asked:
            terms = list(asked)
            column = {term: position for position, term in enumerate(terms)}
            rows: list[list[int]] = []
            lengths: list[int] = []
            for candidate in candidates:
                found = self.tokenizer.tokenize(candidate.text)
                lengths.append(len(found))
                row = [0] * len(terms)
                for position in [column[term] for term in found if term in column]:
                    row[position] += 1
                rows.append(row)
            counts = np.array(rows, dtype=np.float64)
            scores = self._weigh(terms, counts, np.array(lengths, dtype=np.float64)) @ np.array(
                [asked[term] for term in terms], dtype=np.float64
            )
        return ranked(rescored(candidates, scores.tolist()))

    def _weigh(
        self, terms: Sequence[str], counts: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, Any]:
        stats = self.config.stats
        if stats is None:
            total, average = len(lengths), float(lengths.mean())
            frequency = (counts > 0).sum(axis=0)
        else:
            total, average = stats.doc_count, stats.avg_doc_len
            frequency = np.array([stats.doc_freq.get(term, 0) for term in terms])
        weights = saturation(counts, lengths[:, None], average, k1=self.config.k1, b=self.config.b)
        return weights * inverse_document_frequency(frequency, total)
