"""The calibrated gate: a decision model keeps what is relevant and says whether it answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from laya_signals.component import Component, ComponentConfig
from laya_signals.decide.base import DecisionModel, Question, State, model_fingerprint
from laya_signals.decide.question import by_id
from laya_signals.errors import ConfigError
from laya_signals.passage import titled
from laya_signals.registry import ProviderBlock, signals
from pydantic import Field

from laya_retrieval.candidate import Candidate, ranked
from laya_retrieval.errors import GateError
from laya_retrieval.gate.verdict import RELEVANCE_KEY, Funnel, GateState, Verdict


class LayaGateConfig(ComponentConfig):
    """Settings of `gate.laya`."""

    #: Which decision model, for when none is injected.
    model: ProviderBlock | None = None
    #: Probability from which a candidate is relevant.
    relevance_threshold: float = Field(default=0.5, ge=0, le=1)
    #: Probability from which the kept evidence counts as answering.
    answerability_threshold: float = Field(default=0.5, ge=0, le=1)
    #: `incoming` keeps the order of what is kept; `relevance` sorts by probability instead.
    order: Literal["incoming", "relevance"] = "incoming"
    #: Score only the first this many candidates; None scores all.
    top_m: int | None = Field(default=None, ge=1)
    #: Show the answerability question only the first this many kept passages; None shows all.
    evidence_top_k: int | None = Field(default=None, ge=1)
    #: False asks nothing about answerability; the verdict is then `not_measured`.
    answerability: bool = True
    #: Metadata key of the title that the model reads above a passage; None shows passages alone.
    title_key: str | None = "title"
    #: What a first hop found; the relevance question is then asked in its light.
    bridge: str | None = None
    relevance_instructions: str = "The document is relevant to the query."
    answerability_instructions: str = "The evidence answers the query."


class LayaGate(Component[LayaGateConfig]):
    """Keeps the candidates that a decision model finds relevant, and judges what is left.

    `process` returns the kept ones in their incoming order. With `order="relevance"` they are
    sorted by probability, which then is their score; measured on public data the decision is a
    better filter than a ranker. `judge` also asks whether the kept evidence answers the query.
    All candidates go to the model in one batched call.

    `model=` takes anything with `predict_batch(states, questions)`. Raises `GateError` when it
    returns another number of decisions than it was given states, or a probability that is none.
    """

    Config = LayaGateConfig

    def __init__(
        self,
        config: Mapping[str, Any] | LayaGateConfig | None = None,
        /,
        *,
        model: DecisionModel | Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        if isinstance(model, Mapping):
            settings["model"], model = model, None
        super().__init__(config, **settings)
        if model is None and self.config.model is not None:
            model = signals.resolve(self.config.model, DecisionModel)
        if not isinstance(model, DecisionModel):
            raise ConfigError("LayaGate: give model= a decision model, or name one")
        self.model: DecisionModel = model

    def fingerprint_extra(self) -> Any:
        """The model decides the probabilities."""
        return model_fingerprint(self.model)

    @property
    def relevance_question(self) -> Question:
        """What each candidate is asked."""
        return {
            "id": "relevance",
            "type": "noul",
            "instructions": self.config.relevance_instructions,
        }

    @property
    def answerability_question(self) -> Question:
        """What the kept evidence is asked."""
        return {
            "id": "answerability",
            "type": "noul",
            "instructions": self.config.answerability_instructions,
        }

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The relevant candidates, each with `metadata["laya_relevance"]`."""
        kept, _, _ = self._sift(query, candidates)
        return kept

    def judge(
        self,
        query: str,
        candidates: Sequence[Candidate],
        *,
        select: Callable[[Sequence[Candidate]], Sequence[Candidate]] | None = None,
    ) -> Verdict:
        """The relevant candidates, and whether they answer `query`.

        `select` is called once with the kept ones and chooses those that the answerability
        question shows, so that a caller who reranks or packs them gets a verdict on what its
        reader will see. Where it chooses none, the model is not asked.
        """
        kept, dropped, funnel = self._sift(query, candidates)
        questions = [self.relevance_question] if funnel.scored else []
        answerability: float | None = None
        state = GateState.NOT_MEASURED
        selected = kept if select is None else select(kept)
        if self.config.answerability:
            state = GateState.GATE_NOT_REACHED
            if selected:
                state = GateState.MEASURED
                questions.append(self.answerability_question)
                shown = selected[: self.config.evidence_top_k]
                evidence = "\n\n".join(self._shown(candidate) for candidate in shown)
                [answerability] = self._ask(
                    self.answerability_question,
                    [{"query": query, "evidence": evidence}],
                    ["the kept evidence"],
                )
        threshold = self.config.answerability_threshold
        return Verdict(
            state=state,
            answerable=None if answerability is None else answerability >= threshold,
            answerability=answerability,
            kept=tuple(kept),
            dropped=tuple(dropped),
            funnel=funnel,
            relevance_threshold=self.config.relevance_threshold,
            answerability_threshold=threshold,
            questions=tuple(questions),
            model_fingerprint=model_fingerprint(self.model) if questions else None,
        )

    def _sift(
        self, query: str, candidates: Sequence[Candidate]
    ) -> tuple[list[Candidate], list[Candidate], Funnel]:
        scored = list(candidates[: self.config.top_m])
        unscored = list(candidates[len(scored) :])
        context = {"query": query}
        if self.config.bridge is not None:
            context["bridge"] = self.config.bridge
        relevances = self._ask(
            self.relevance_question,
            [{**context, "document": self._shown(candidate)} for candidate in scored],
            [f"candidate {candidate.id!r}" for candidate in scored],
        )
        kept: list[Candidate] = []
        below: list[Candidate] = []
        for candidate, relevance in zip(scored, relevances, strict=True):
            marked = candidate.with_metadata(**{RELEVANCE_KEY: relevance})
            (kept if relevance >= self.config.relevance_threshold else below).append(marked)
        if self.config.order == "relevance":
            kept = ranked(c.with_score(c.metadata[RELEVANCE_KEY]) for c in kept)
        funnel = Funnel(
            considered=len(candidates),
            dropped_before_scoring=len(unscored),
            scored=len(scored),
            below_relevance=len(below),
            kept=len(kept),
        )
        return kept, below + unscored, funnel

    def _shown(self, candidate: Candidate) -> str:
        """What the model reads of a candidate: its text under its title, if it has one."""
        key = self.config.title_key
        title = None if key is None else candidate.metadata.get(key)
        return titled(title, candidate.text) if isinstance(title, str) else candidate.text

    def _ask(
        self, question: Question, states: Sequence[State], owners: Sequence[str]
    ) -> list[float]:
        if not states:
            return []
        return noul_probabilities(self.model, question, states, owners)


def noul_probabilities(
    model: DecisionModel, question: Question, states: Sequence[State], owners: Sequence[str]
) -> list[float]:
    """The model's probability for one noul question about each state, in one call.

    `owners` name the states in errors. Raises `GateError` for a wrong number of decisions, a
    missing answer, or a number outside 0..1.
    """
    name = type(model).__name__
    # By id, as the agents of the public `laya` package want them; ours take both forms.
    decisions = model.predict_batch(states, by_id([question]))
    if len(decisions) != len(states):
        raise GateError(f"{name} returned {len(decisions)} decisions for {len(states)} states")
    probabilities: list[float] = []
    for decision, owner in zip(decisions, owners, strict=True):
        try:
            value = float(decision["answers"][question["id"]]["noul"])
        except (KeyError, TypeError, ValueError) as error:
            raise GateError(
                f"{name} gave no noul answer to {question['id']!r} for {owner}: {error!r}"
            ) from error
        if not (math.isfinite(value) and 0 <= value <= 1):
            raise GateError(f"{name} gave {value!r} for {owner}, which is no probability")
        probabilities.append(value)
    return probabilities
