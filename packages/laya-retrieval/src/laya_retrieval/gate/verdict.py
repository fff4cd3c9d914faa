"""What a gate says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from laya_signals.decide.base import Question

from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import GateError

#: Metadata key of a candidate's probability of being relevant.
RELEVANCE_KEY = "laya_relevance"


class GateState(Enum):
    """Whether answerability was measured, and if not, why."""

    #: The model was asked; `Verdict.answerability` is its probability.
    MEASURED = "measured"
    #: Nothing cleared the relevance bar, so the model was never asked. This is not 0.0.
    GATE_NOT_REACHED = "gate_not_reached"
    #: The gate is off.
    NOT_MEASURED = "not_measured"


@dataclass(frozen=True, slots=True)
class Funnel:
    """How many candidates reached each step of the gate."""

    #: Handed in.
    considered: int
    #: Never scored, because the cascade only scores the first `top_m`.
    dropped_before_scoring: int
    #: Scored for relevance.
    scored: int
    #: Scored below the relevance threshold.
    below_relevance: int
    #: Kept.
    kept: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the evidence answers the question, and everything that this rests on.

    `answerable` and `answerability` are None unless `state` is `MEASURED`; raises `GateError` when
    they are not.
    """

    state: GateState
    #: Whether `answerability` reaches its threshold.
    answerable: bool | None
    #: The probability that the kept candidates answer the query, 0..1.
    answerability: float | None
    kept: tuple[Candidate, ...]
    dropped: tuple[Candidate, ...]
    funnel: Funnel
    #: None for a gate that judges no relevance.
    relevance_threshold: float | None
    answerability_threshold: float
    #: The questions that a decision model was asked, in order.
    questions: tuple[Question, ...]
    #: Identifies the model that answered; None when none was asked.
    model_fingerprint: str | None

    def __post_init__(self) -> None:
        measured = self.state is GateState.MEASURED
        if measured != (self.answerability is not None) or measured != (
            self.answerable is not None
        ):
            raise GateError(
                f"a verdict has an answerability exactly when it was measured, not with state "
                f"{self.state.value!r} and {self.answerability!r}"
            )

    @classmethod
    def not_measured(
        cls, candidates: Sequence[Candidate], *, answerability_threshold: float = 0.5
    ) -> Verdict:
        """The verdict of a gate that is switched off: everything is kept, nothing is known."""
        return cls(
            state=GateState.NOT_MEASURED,
            answerable=None,
            answerability=None,
            kept=tuple(candidates),
            dropped=(),
            funnel=Funnel(len(candidates), 0, 0, 0, len(candidates)),
            relevance_threshold=None,
            answerability_threshold=answerability_threshold,
            questions=(),
            model_fingerprint=None,
        )
