"""A passage as every face shows it: its text, its place, and why it is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laya_retrieval.candidate import Candidate
from laya_retrieval.fuse.base import FUSION_KEY, LegContribution
from laya_retrieval.gate.verdict import RELEVANCE_KEY


@dataclass(frozen=True, slots=True)
class Passage:
    """A candidate with its number, the n of `[n]`."""

    rank: int
    candidate: Candidate

    @property
    def legs(self) -> tuple[LegContribution, ...]:
        """What each leg that found it gave it."""
        parts: tuple[LegContribution, ...] = self.candidate.metadata.get(FUSION_KEY, ())
        return parts

    @property
    def relevance(self) -> float | None:
        """Probability that it is relevant, or None where no gate read it."""
        return relevance_of(self.candidate)

    def to_json(self) -> dict[str, Any]:
        """The passage, see `docs/engine.md`."""
        metadata = self.candidate.metadata
        return {
            "rank": self.rank,
            "score": self.candidate.score,
            "relevance": self.relevance,
            **chunk_json(self.candidate),
            "legs": [
                {
                    "leg": part.leg,
                    "rank": part.rank,
                    "score": part.score,
                    "contribution": part.contribution,
                }
                for part in self.legs
            ],
            "duplicates": list(metadata.get("duplicates", ())),
            "merged": list(metadata.get("merged_ids", ())),
        }


def chunk_json(candidate: Candidate) -> dict[str, Any]:
    """A chunk without anything that a search adds to it."""
    metadata: Mapping[str, Any] = candidate.metadata
    return {
        "record_id": candidate.id,
        "document_id": metadata["document_id"],
        "ordinal": metadata["ordinal"],
        "title": metadata["title"],
        "heading_path": list(metadata["heading_path"]),
        "start": metadata["start"],
        "end": metadata["end"],
        "trust_tier": metadata["trust_tier"],
        "text": candidate.text,
    }


def numbered(candidates: Sequence[Candidate]) -> tuple[Passage, ...]:
    """The candidates as passages, numbered from 1."""
    return tuple(Passage(rank, item) for rank, item in enumerate(candidates, start=1))


def relevance_of(candidate: Candidate) -> float | None:
    """The gate's probability that a candidate is relevant, if one read it."""
    value: float | None = candidate.metadata.get(RELEVANCE_KEY)
    return value
