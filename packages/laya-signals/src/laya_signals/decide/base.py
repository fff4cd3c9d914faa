"""The seam of everything that answers typed questions about a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict, runtime_checkable

from laya_signals.component import fingerprint_of

#: What a question is asked about: a text, a mapping (read as JSON), or a list of turns.
State: TypeAlias = str | Mapping[str, Any] | Sequence[Any]

QuestionType: TypeAlias = Literal["noul", "choice", "score"]


class Question(TypedDict):
    """A typed question.

    `noul` asks for the probability that a statement holds, `choice` for one of `options`, `score`
    for a level.
    """

    id: str
    type: QuestionType
    instructions: str
    #: For `choice`: label to description, or labels. For `score`: the levels, lowest first. For
    #: `noul`: the two labels, false first (to descriptions, if a mapping), where the model's own
    #: wording should not be used.
    options: NotRequired[Mapping[str, str] | Sequence[str]]
    #: The same in the words of the public `laya` package, instead of `options`: `criteria` as in a
    #: mapping or list above, for `noul` keyed `"false"` and `"true"`.
    criteria: NotRequired[Mapping[str, Any] | Sequence[Any]]
    #: For `noul` with `criteria`: the words for `"false"` and `"true"`.
    labels: NotRequired[Mapping[str, str]]


#: Questions as a list, or by id without `id` in each, as the public `laya` package takes them.
Questions: TypeAlias = Sequence[Question] | Mapping[str, Mapping[str, Any]]


class NoulAnswer(TypedDict):
    """Answer to a `noul` question: both numbers in 0..1."""

    #: Probability that the statement holds.
    noul: float
    #: How sure the model is of its own verdict.
    confidence: float


class Usage(TypedDict):
    """What asking about one state took."""

    #: Tokens of all its sequences, one for each question.
    input_tokens: int
    #: Tokens of the state, before any cut.
    state_tokens: int
    #: Tokens of it that the question with the least room did not see.
    state_tokens_dropped: int
    truncated: bool
    #: Ids of the questions that saw a cut state.
    truncated_questions: list[str]


class Decision(TypedDict):
    """What a model says about one state: question id to answer."""

    answers: Mapping[str, Mapping[str, Any]]
    usage: NotRequired[Usage]


@runtime_checkable
class DecisionModel(Protocol):
    """Answers every question about every state.

    A model may also have a `fingerprint`, hex digits that identify weights, calibration and
    settings. Agents of the public `laya` package fit, and so do the models here, when questions
    come in the form of `laya_signals.decide.question.by_id`; the models here take both forms.
    """

    def predict_batch(self, states: Sequence[State], questions: Questions) -> list[Decision]:
        """One decision per state, in order, with an answer to each question."""
        ...


def model_fingerprint(model: DecisionModel) -> str:
    """The model's own fingerprint, or one of its class's name when it has none.

    The latter cannot tell two checkpoints of one class apart; it says so by its prefix `class-`.
    """
    own = getattr(model, "fingerprint", None)
    if isinstance(own, str) and own:
        return own
    kind = type(model)
    return "class-" + fingerprint_of(f"{kind.__module__}:{kind.__qualname__}")
