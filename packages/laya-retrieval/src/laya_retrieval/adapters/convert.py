"""What all adapters share: scores where a framework has none, and metadata it can serialise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from laya_signals.registry import ProviderBlock

from laya_retrieval.candidate import Candidate
from laya_retrieval.process.base import Processor
from laya_retrieval.registry import resolve_processor


def score_or_rank(score: Any, place: int) -> float:
    """`score` where it is a finite number, else `1 / place`: the list's order as a score."""
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        return 1.0 / place
    return float(score)


def without_repeats(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each id once, at its first place: identity is the id."""
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.id, candidate)
    return list(first.values())


def plain(value: Any) -> Any:
    """`value` with data classes as mappings and tuples as lists, so that JSON can hold it."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def built(processors: Sequence[Processor | ProviderBlock | Mapping[str, Any]]) -> list[Processor]:
    """Processors from objects and provider blocks alike.

    Raises `RegistryError` for a block that names none.
    """
    return [
        processor if isinstance(processor, Processor) else resolve_processor(processor)
        for processor in processors
    ]


def applied(
    processors: Sequence[Processor], query: str, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """The candidates after every processor in turn."""
    current = list(candidates)
    for processor in processors:
        current = processor.process(query, current)
    return current
