"""What `compose` yields, in this order: the evidence, pieces of text, then the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from laya_rag.compose.errors import ModelServerError
from laya_rag.compose.result import ComposeResult
from laya_rag.engine import AskResult


@dataclass(frozen=True, slots=True)
class EvidenceEvent:
    """What was found, and the verdict on it; always the first."""

    asked: AskResult

    def to_json(self) -> dict[str, Any]:
        """`event` is `evidence`, then the keys of the result of `ask`."""
        return {"event": "evidence", **self.asked.to_json()}


@dataclass(frozen=True, slots=True)
class TextEvent:
    """The next piece of the unverified answer."""

    text: str

    def to_json(self) -> dict[str, Any]:
        """`event` is `text`."""
        return {"event": "text", "text": self.text}


@dataclass(frozen=True, slots=True)
class ResultEvent:
    """The end: the whole answer, and what could be checked of it."""

    result: ComposeResult

    def to_json(self) -> dict[str, Any]:
        """`event` is `result`, then the keys of `ComposeResult`."""
        return {"event": "result", **self.result.to_json()}


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """The end instead of a result: the model's server failed. What was written is not an answer."""

    error: ModelServerError

    def to_json(self) -> dict[str, Any]:
        """`event` is `error`; `detail` names no address and quotes nobody, unlike the error."""
        return {"event": "error", "code": self.error.code, "detail": self.error.public}


ComposeEvent: TypeAlias = EvidenceEvent | TextEvent | ResultEvent | ErrorEvent
