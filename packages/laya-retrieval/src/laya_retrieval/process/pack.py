"""Packs candidates into a token budget: the most value with the least repetition."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from laya_signals.component import Component, ComponentConfig
from pydantic import Field, FiniteFloat

from laya_retrieval.candidate import Candidate, ranked
from laya_retrieval.errors import PackError
from laya_retrieval.process.knapsack import objective, solve
from laya_retrieval.process.overlap import join_spans, joinable, shared_characters, source_span
from laya_retrieval.process.redundancy import shingle_similarity
from laya_retrieval.tokens import TokenCounter, count_tokens, resolve_counter

__all__ = ["PackConfig", "PackResult", "Packer", "SkipReason", "Skipped"]

SkipReason = Literal["too_large", "no_room", "redundant", "overlaps", "duplicate_id"]

_EPSILON = 1e-12


class PackConfig(ComponentConfig):
    """Settings of `processor.pack`.

    - `budget`: tokens that the packed texts and the separators between them may take, ≥ 1.
    - `separator_tokens`: tokens of what you put between two packed texts, ≥ 0.
    - `counter`: "heuristic" or "tiktoken:<encoding>"; a callable goes to `Packer(counter=…)`.
    - `value_signals`: weights by metadata key. A candidate's value is its score plus, for each
      key, weight × the signal; a list of numbers counts by its mean, an absent or empty one as 0.
      A dotted key ("context_header.kg_node_centrality") reaches into mappings.
    - `redundancy_weight`: how much of the lesser value a full repetition costs, ≥ 0; at 1.0 a copy
      is worth nothing, at 0.0 repetition is free.
    - `merge_overlaps`: join packed spans of one document that touch or overlap.
    """

    budget: int = Field(default=2048, ge=1)
    separator_tokens: int = Field(default=0, ge=0)
    counter: str = "heuristic"
    value_signals: Mapping[str, FiniteFloat] = Field(default_factory=dict)
    redundancy_weight: float = Field(default=1.0, ge=0.0, allow_inf_nan=False)
    merge_overlaps: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """A candidate that was not packed, and why.

    `reason`: "too_large" (alone beyond the budget), "no_room" (the budget went to better use),
    "redundant" (what is packed already says it), "overlaps" (a packed candidate covers some of
    the same characters of the same document), "duplicate_id" (its id came before).
    """

    candidate: Candidate
    reason: SkipReason
    tokens: int


@dataclass(frozen=True, slots=True)
class PackResult:
    """What was packed, what it takes, what was left out, and how good the choice is.

    `candidates` are by descending score, ties by id; `tokens` includes the separators and never
    exceeds `budget`. `objective` is value less redundancy in the unit of the scores, counted from
    `floor` per candidate: 0, or the lowest value when that is negative. `method` is "exact" when
    no subset has a higher objective, else "heuristic".
    """

    candidates: tuple[Candidate, ...]
    tokens: int
    budget: int
    skipped: tuple[Skipped, ...]
    objective: float
    floor: float
    method: Literal["exact", "heuristic"]


class Packer(Component[PackConfig]):
    """Chooses the candidates of most value less redundancy within a token budget.

    The objective is Σ value − Σ over pairs of redundancy_weight × similarity × the lesser value,
    a quadratic knapsack; `laya_retrieval.process.knapsack` says how it is solved. Similarity is
    the shared part of three-word shingles, or, for two spans of one document, of characters.
    Overlapping spans of a document are never both packed, unless `merge_overlaps` joins them.

    >>> packed = Packer(budget=8).pack("q", [
    ...     Candidate("a", 0.9, "revenue grew by a tenth"),
    ...     Candidate("b", 0.8, "Revenue grew by a tenth."),
    ...     Candidate("c", 0.5, "tax fell"),
    ... ])
    >>> [candidate.id for candidate in packed.candidates], packed.tokens
    (['a', 'c'], 7)
    >>> [(item.candidate.id, item.reason) for item in packed.skipped]
    [('b', 'redundant')]

    `counter` is a name (the same as the setting) or any callable from a text to its tokens.
    """

    Config = PackConfig

    def __init__(
        self,
        config: Mapping[str, Any] | ComponentConfig | None = None,
        /,
        *,
        counter: str | TokenCounter | None = None,
        **settings: Any,
    ) -> None:
        if isinstance(counter, str):
            settings["counter"] = counter
        super().__init__(config, **settings)
        self._injected = None if isinstance(counter, str) else counter
        self._count = resolve_counter(self._injected or self.config.counter)

    def fingerprint_extra(self) -> Any:
        """The name of an injected counter; its code is beyond what a fingerprint can see."""
        counter = self._injected
        if counter is None:
            return None
        kind = counter if hasattr(counter, "__qualname__") else type(counter)
        return f"{kind.__module__}:{kind.__qualname__}"

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The packed candidates by descending score; `pack` also says what was left out."""
        return list(self.pack(query, candidates).candidates)

    def pack(self, query: str, candidates: Sequence[Candidate]) -> PackResult:  # noqa: ARG002
        """Pack `candidates`; the order in which they come makes no difference.

        The query is part of the seam and is not read. Raises `PackError`, naming the candidate,
        for a malformed signal or span and for a counter that returns anything but an int ≥ 0.
        """
        pool, repeated = _first_of_each_id(ranked(candidates))
        tokens = np.array([self._tokens(candidate) for candidate in pool], dtype=np.int64)
        raw = np.array([self._value(candidate) for candidate in pool], dtype=np.float64)
        floor = min(0.0, float(raw.min(initial=0.0)))
        problem = _Problem(pool, tokens, raw - floor, self.config)

        # One separator fewer than items: a budget one separator larger makes each item pay one.
        separator = self.config.separator_tokens
        solution = solve(
            problem.values, tokens + separator, self.config.budget + separator, problem.penalties
        )
        chosen = solution.chosen.copy()
        self._add_worthless(problem, chosen)
        packed, exact = self._output(problem, chosen, solution.exact)
        skipped = [
            Skipped(pool[i], problem.reason(i, chosen), int(tokens[i]))
            for i in np.flatnonzero(~chosen).tolist()
        ]
        skipped += [Skipped(item, "duplicate_id", self._tokens(item)) for item in repeated]
        return PackResult(
            candidates=tuple(packed),
            tokens=self._total(packed),
            budget=self.config.budget,
            skipped=tuple(skipped),
            objective=objective(problem.values, problem.penalties, chosen),
            floor=floor,
            method="exact" if exact else "heuristic",
        )

    def _tokens(self, candidate: Candidate) -> int:
        return count_tokens(self._count, candidate.text, candidate.id)

    def _value(self, candidate: Candidate) -> float:
        signals = self.config.value_signals.items()
        return candidate.score + sum(weight * _signal(candidate, key) for key, weight in signals)

    def _total(self, packed: Sequence[Candidate]) -> int:
        separators = self.config.separator_tokens * max(0, len(packed) - 1)
        return sum(self._tokens(candidate) for candidate in packed) + separators

    def _add_worthless(self, problem: _Problem, chosen: npt.NDArray[np.bool_]) -> None:
        """Adds, in place, what has value 0 and fits: nothing speaks against it.

        Such a candidate is there because somebody fetched it. A copy of a packed one stays out.
        """
        separator = self.config.separator_tokens
        left = self.config.budget + separator
        left -= int((problem.tokens[chosen] + separator).sum())
        for i in np.flatnonzero(problem.values <= 0).tolist():
            cost = int(problem.tokens[i]) + separator
            if cost <= left and problem.is_new(i, chosen):
                chosen[i] = True
                left -= cost

    def _output(
        self, problem: _Problem, chosen: npt.NDArray[np.bool_], exact: bool
    ) -> tuple[list[Candidate], bool]:
        """The chosen candidates, joined where that is asked for; `chosen` follows in place."""
        packed = problem.taken(chosen)
        if not self.config.merge_overlaps:
            return packed, exact
        # The solution lets every span pay for all its tokens. Where spans can be joined, that is
        # not the whole problem, and what is found from here on is no longer called exact.
        exact = exact and len(join_spans(problem.pool)) == len(problem.pool)
        joined = join_spans(packed)
        while self._total(joined) > self.config.budget:  # only a counter of odd habits gets here
            chosen[np.flatnonzero(chosen)[-1]] = False
            joined, exact = join_spans(problem.taken(chosen)), False
        if exact:
            return joined, True
        for i in np.flatnonzero(~chosen).tolist():  # spend what joining saves, best first
            if not problem.is_new(i, chosen):
                continue
            chosen[i] = True
            tried = join_spans(problem.taken(chosen))
            if self._total(tried) <= self.config.budget:
                joined = tried
            else:
                chosen[i] = False
        return joined, False


class _Problem:
    """Candidates in ranked order with their tokens, values and pairwise penalties."""

    def __init__(
        self,
        pool: Sequence[Candidate],
        tokens: npt.NDArray[np.int64],
        values: npt.NDArray[np.float64],
        config: PackConfig,
    ) -> None:
        self.pool = pool
        self.tokens = tokens
        self.values = values
        self.budget = config.budget
        spans = [source_span(candidate) for candidate in pool]
        shared = shared_characters(spans)
        lengths = np.array([span.end - span.start if span else 1 for span in spans])
        covered = shared / np.maximum(np.minimum(lengths[:, None], lengths), 1)
        weight = config.redundancy_weight
        similar = shingle_similarity([candidate.text for candidate in pool]) if weight else 0.0
        self.similarity = weight * np.where(shared > 0, covered, similar)
        lesser = np.minimum(values[:, None], values)
        self.penalties = self.similarity * lesser
        self.forbidden = shared > 0
        if config.merge_overlaps:
            for i, j in np.argwhere(np.triu(shared)).tolist():
                if joinable(pool[i], pool[j]):
                    self.forbidden[i, j] = self.forbidden[j, i] = False
        # Both together are worth nothing, so that no optimum, local or global, keeps them both.
        both = values[:, None] + values
        self.penalties[self.forbidden] = np.maximum(self.penalties, both)[self.forbidden]

    def taken(self, chosen: npt.NDArray[np.bool_]) -> list[Candidate]:
        """The chosen candidates in ranked order."""
        return [self.pool[i] for i in np.flatnonzero(chosen).tolist()]

    def is_new(self, i: int, chosen: npt.NDArray[np.bool_]) -> bool:
        """Whether candidate `i` adds anything to the chosen and may stand beside them."""
        if self.forbidden[i, chosen].any():
            return False
        if self.values[i] <= 0:
            return bool(self.similarity[i, chosen].sum() < 1)
        return bool(self.values[i] - self.penalties[i, chosen].sum() > _EPSILON)

    def reason(self, i: int, chosen: npt.NDArray[np.bool_]) -> SkipReason:
        """Why candidate `i` is not among the chosen."""
        if self.tokens[i] > self.budget:
            return "too_large"
        if self.forbidden[i, chosen].any():
            return "overlaps"
        return "no_room" if self.is_new(i, chosen) else "redundant"


def _first_of_each_id(pool: Iterable[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """The first candidate of each id, and the others."""
    first: dict[str, Candidate] = {}
    repeated = []
    for candidate in pool:
        if candidate.id in first:
            repeated.append(candidate)
        else:
            first[candidate.id] = candidate
    return list(first.values()), repeated


def _signal(candidate: Candidate, key: str) -> float:
    """The number, or the mean of the numbers, that the metadata holds under `key`; 0.0 if none."""
    found: Any = candidate.metadata.get(key)
    if found is None and "." in key:
        found = candidate.metadata
        for part in key.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    if found is None:
        return 0.0
    try:
        if isinstance(found, str | bytes | bool):
            raise TypeError
        numbers = [float(number) for number in found] if np.iterable(found) else [float(found)]
    except (TypeError, ValueError):
        numbers = [math.nan]
    if not all(math.isfinite(number) for number in numbers):
        raise PackError(
            f"candidate {candidate.id!r}: signal {key!r} is {found!r}, "
            "expected a finite number or a list of them"
        )
    return sum(numbers) / len(numbers) if numbers else 0.0
