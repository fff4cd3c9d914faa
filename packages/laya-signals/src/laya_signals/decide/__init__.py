"""Decision models: typed questions about a state, answered with probabilities."""

from laya_signals.decide.base import (
    Decision,
    DecisionModel,
    NoulAnswer,
    Question,
    Questions,
    QuestionType,
    State,
    Usage,
    model_fingerprint,
)
from laya_signals.decide.errors import DecisionError, QuestionError, ServerError
from laya_signals.decide.question import TypedQuestion, by_id, parse_questions

__all__ = [
    "Decision",
    "DecisionError",
    "DecisionModel",
    "NoulAnswer",
    "Question",
    "QuestionError",
    "QuestionType",
    "Questions",
    "ServerError",
    "State",
    "TypedQuestion",
    "Usage",
    "by_id",
    "model_fingerprint",
    "parse_questions",
]
