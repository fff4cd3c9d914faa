"""What decision models raise beyond `ModelError`, `ConfigError` and `MissingExtraError`.

SignalError
└── DecisionError
    ├── QuestionError  a question or a state cannot be put to a model (also a ValueError)
    └── ServerError    a System One server cannot be reached, or answers with anything but answers
"""

from __future__ import annotations

from laya_signals.errors import SignalError


class DecisionError(SignalError):
    """Base class of what goes wrong while a decision model is asked."""


class QuestionError(DecisionError, ValueError):
    """A question or a state cannot be put to a model; the message names its id or position."""


class ServerError(DecisionError):
    """A server gave no usable answer; `status` is its HTTP status, None when there was none."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
