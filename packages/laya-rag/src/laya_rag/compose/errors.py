"""What composition ends with instead of a result.

ComposeError
├── ComposeOffError     composition is switched off; the message says how to switch it on
└── ModelServerError    the server of the language model failed; `code` says how
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal, TypeAlias

from laya_rag.errors import RagError

ErrorCode: TypeAlias = Literal[
    "bad_response",
    "cut_off",
    "evidence_too_long",
    "model_error",
    "model_missing",
    "model_unauthorized",
    "no_answer",
    "server_busy",
    "thinking_mixed_in",
    "timed_out",
    "too_large",
    "unreachable",
]

#: What a caller over the network is told: nothing of addresses, and none of the server's words.
PUBLIC: MappingProxyType[ErrorCode, str] = MappingProxyType(
    {
        "bad_response": "the language model's server sent something that is no answer",
        "cut_off": "the language model's server closed the connection before it wrote anything",
        "evidence_too_long": "the evidence is longer than the language model may read",
        "model_error": "the language model failed",
        "model_missing": "the language model is not on its server",
        "model_unauthorized": "the language model's server refused the key",
        "no_answer": "the language model ended without an answer",
        "server_busy": "the language model's server is busy; try again later",
        "thinking_mixed_in": "the language model's thinking came as part of its answer",
        "timed_out": "the language model did not answer in time",
        "too_large": "the language model's server sent more than an answer can hold",
        "unreachable": "the language model's server cannot be reached",
    }
)


class ComposeError(RagError):
    """Base class of what composition raises."""


class ComposeOffError(ComposeError):
    """Composition is switched off; the message says how to switch it on."""

    def __init__(self) -> None:
        super().__init__(
            "composition is off: set compose.provider to ollama or openai, and compose.model to "
            "the model's name"
        )


class ModelServerError(ComposeError):
    """The server of the language model gave no answer, or half of one.

    The message has the address and what the server said, never the key. `code` is stable, and
    `status` the HTTP status, if it came to one.
    """

    def __init__(self, code: ErrorCode, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.status = status

    @property
    def public(self) -> str:
        """The same for a caller who may not know where the server is."""
        return PUBLIC[self.code]
