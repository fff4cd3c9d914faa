"""Answerability from a natural-language-inference cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from laya_retrieval.candidate import Candidate
from laya_retrieval.cross_encoder import CrossEncoderComponent, CrossEncoderConfig
from laya_retrieval.errors import GateError
from laya_retrieval.gate.verdict import RELEVANCE_KEY, Funnel, GateState, Verdict


class NliGateConfig(CrossEncoderConfig):
    """Settings of `gate.nli`."""

    #: What the model's outputs mean, in order.
    labels: tuple[str, ...] = ("contradiction", "entailment", "neutral")
    #: The statement that a passage should entail; `{query}` is replaced.
    hypothesis: str = "This text answers the question: {query}"
    #: Entailment from which a passage is kept.
    relevance_threshold: float = Field(default=0.5, ge=0, le=1)
    #: Best entailment from which the question counts as answerable.
    answerability_threshold: float = Field(default=0.5, ge=0, le=1)

    @field_validator("labels")
    @classmethod
    def _has_entailment(cls, labels: tuple[str, ...]) -> tuple[str, ...]:
        if labels.count("entailment") != 1:
            raise ValueError("labels must name entailment once")
        return labels

    @field_validator("hypothesis")
    @classmethod
    def _has_query(cls, hypothesis: str) -> str:
        if "{query}" not in hypothesis:
            raise ValueError("a hypothesis contains {query}")
        return hypothesis


class NliGate(CrossEncoderComponent[NliGateConfig]):
    """Keeps passages that entail "this answers the question"; their best probability answers.

    `model=` takes an object whose `predict(pairs)` gives one logit per label, `(n, labels)`, as
    sentence-transformers' NLI cross-encoders do; softmax turns them into probabilities. Those are
    only as calibrated as the model. Raises `GateError` for another shape or a value that is not
    finite.
    """

    Config = NliGateConfig

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The kept candidates in their incoming order."""
        return list(self.judge(query, candidates).kept)

    def judge(self, query: str, candidates: Sequence[Candidate]) -> Verdict:
        """The kept candidates, each with `metadata["laya_relevance"]`, and the verdict.

        Answerability is the highest entailment of all candidates, kept or not; it is not measured
        only when there are none.
        """
        probabilities = self._entailment(query, candidates).tolist() if candidates else []
        marked = [
            candidate.with_metadata(**{RELEVANCE_KEY: probability})
            for candidate, probability in zip(candidates, probabilities, strict=True)
        ]
        bar = self.config.relevance_threshold
        kept = [c for c in marked if c.metadata[RELEVANCE_KEY] >= bar]
        dropped = [c for c in marked if c.metadata[RELEVANCE_KEY] < bar]
        best = max(probabilities, default=None)
        return Verdict(
            state=GateState.GATE_NOT_REACHED if best is None else GateState.MEASURED,
            answerable=None if best is None else best >= self.config.answerability_threshold,
            answerability=best,
            kept=tuple(kept),
            dropped=tuple(dropped),
            funnel=Funnel(len(marked), 0, len(marked), len(dropped), len(kept)),
            relevance_threshold=bar,
            answerability_threshold=self.config.answerability_threshold,
            questions=(),
            model_fingerprint=None if best is None else self.fingerprint,
        )

    def fingerprint_extra(self) -> Any:
        """The model's class, when it was injected: a cross-encoder names itself no further."""
        return None if self._model is None else type(self._model).__qualname__

    def _entailment(self, query: str, candidates: Sequence[Candidate]) -> NDArray[np.float64]:
        hypothesis = self.config.hypothesis.replace("{query}", query)
        pairs = [(candidate.text, hypothesis) for candidate in candidates]
        labels = self.config.labels
        try:
            logits = np.asarray(self.model.predict(pairs), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise GateError(f"the NLI model returned no numbers: {error}") from error
        if logits.shape != (len(pairs), len(labels)):
            raise GateError(
                f"the NLI model returned shape {logits.shape}, not {(len(pairs), len(labels))}: "
                f"one logit per label ({', '.join(labels)})"
            )
        finite = np.isfinite(logits).all(axis=1)
        if not bool(finite.all()):
            bad = candidates[int(np.argmin(finite))].id
            raise GateError(f"the NLI model scored candidate {bad!r} as not finite")
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities: NDArray[np.float64] = odds[:, labels.index("entailment")] / odds.sum(axis=1)
        return probabilities
