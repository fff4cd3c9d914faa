"""The second stage: from what the search found to the evidence, and what the gate says about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from laya_retrieval.candidate import Candidate
from laya_retrieval.gate.base import Gate
from laya_retrieval.gate.laya import LayaGate
from laya_retrieval.gate.verdict import Verdict
from laya_retrieval.guard import Guard
from laya_retrieval.process.base import Processor
from laya_retrieval.process.pack import Packer, PackResult
from laya_signals.component import Component, fingerprint_of

from laya_rag.engine.clock import Clock


@dataclass(frozen=True, slots=True)
class EvidenceFunnel:
    """How many candidates reached each step, from the search to the evidence."""

    #: Distinct candidates that the search found.
    retrieved: int
    #: Dropped because they repeat one before them.
    duplicates: int
    #: Handed to the gate.
    considered: int
    #: Not read, because the gate reads the first `gate.candidates` only.
    dropped_before_scoring: int
    #: Read.
    scored: int
    #: Read, and found not relevant.
    below_relevance: int
    #: Relevant, or all where the gate is off.
    kept: int
    #: In the evidence.
    evidence: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is left, what it was chosen from, and the verdict on it."""

    candidates: tuple[Candidate, ...]
    verdict: Verdict
    packed: PackResult | None
    funnel: EvidenceFunnel


@dataclass(frozen=True, slots=True)
class SecondStage:
    """Deduplicate, judge, rerank, cover, spread over documents, cut, pack.

    None switches a step off. What the gate is asked about the answer, it is asked of the very
    passages that come out at the end.
    """

    keep: int
    answerability_threshold: float
    dedup: Processor | None = None
    gate: Gate | None = None
    #: The gate reads the first this many.
    candidates: int = 20
    #: Rerank, cover and quota, as far as they are on, by name.
    order: tuple[tuple[str, Processor], ...] = ()
    packer: Packer | None = None

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that change whenever another evidence or verdict may come out."""
        parts = [self.dedup, self.gate, *(processor for _, processor in self.order), self.packer]
        gate = None if self.gate is None else self.candidates
        return fingerprint_of([self.keep, gate, [component_fingerprint(part) for part in parts]])

    def run(
        self, query: str, pool: Sequence[Candidate], guards: Sequence[Guard], clock: Clock
    ) -> Evidence:
        """The evidence for `query` in `pool`, best first; only what every guard permits."""
        found = list(pool)
        if self.dedup is not None:
            with clock.stage("dedup"):
                found = self.dedup.process(query, found)
        selection = _Selection(self, query, guards, clock)
        if self.gate is None:
            verdict = Verdict.not_measured(
                found, answerability_threshold=self.answerability_threshold
            )
            shown = selection.of(found)
        else:
            with clock.stage("gate"):
                verdict, shown = self._judged(self.gate, query, found, selection)
        funnel = verdict.funnel
        return Evidence(
            tuple(shown),
            verdict,
            selection.packed,
            EvidenceFunnel(
                retrieved=len(pool),
                duplicates=len(pool) - len(found),
                considered=funnel.considered,
                dropped_before_scoring=funnel.dropped_before_scoring,
                scored=funnel.scored,
                below_relevance=funnel.below_relevance,
                kept=funnel.kept,
                evidence=len(shown),
            ),
        )

    def _judged(
        self, gate: Gate, query: str, found: Sequence[Candidate], selection: _Selection
    ) -> tuple[Verdict, list[Candidate]]:
        read, unread = found[: self.candidates], found[self.candidates :]
        if isinstance(gate, LayaGate):
            verdict = gate.judge(query, read, select=selection.of)
            shown = selection.last
        else:
            verdict = gate.judge(query, read)
            shown = selection.of(verdict.kept)
        funnel = replace(
            verdict.funnel,
            considered=len(found),
            dropped_before_scoring=verdict.funnel.dropped_before_scoring + len(unread),
        )
        return replace(verdict, dropped=(*verdict.dropped, *unread), funnel=funnel), shown


def component_fingerprint(part: object) -> str | None:
    """A component's fingerprint; the name of its class where it has none; None for None."""
    if part is None or isinstance(part, Component):
        return None if part is None else part.fingerprint
    return f"{type(part).__module__}:{type(part).__qualname__}"


class _Selection:
    """The steps behind the gate, run on one question's kept candidates."""

    def __init__(
        self, second: SecondStage, query: str, guards: Sequence[Guard], clock: Clock
    ) -> None:
        self._second = second
        self._query = query
        self._guards = guards
        self._clock = clock
        self.last: list[Candidate] = []
        self.packed: PackResult | None = None

    def of(self, kept: Sequence[Candidate]) -> list[Candidate]:
        """The evidence among `kept`."""
        current = list(kept)
        for name, processor in self._second.order:
            with self._clock.stage(name):
                current = processor.process(self._query, current)
        # Once more on the way out, so that no step in between can bring anything back.
        current = [c for c in current if all(guard.permits(c) for guard in self._guards)]
        current = current[: self._second.keep]
        if self._second.packer is not None:
            with self._clock.stage("pack"):
                self.packed = self._second.packer.pack(self._query, current)
                current = list(self.packed.candidates)
        self.last = current
        return current
