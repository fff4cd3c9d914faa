"""Composition: the only step that writes prose, by a language model that is not ours.

The evidence of a question goes to an OpenAI-compatible server or to Ollama, and what comes back is
a draft: streamed, checked against the evidence, and marked as unverified whatever the check says.
"""

from laya_rag.compose.composer import compose, describe
from laya_rag.compose.errors import ComposeError, ComposeOffError, ModelServerError
from laya_rag.compose.event import ComposeEvent, ErrorEvent, EvidenceEvent, ResultEvent, TextEvent
from laya_rag.compose.result import ComposeResult, ComposeState

__all__ = [
    "ComposeError",
    "ComposeEvent",
    "ComposeOffError",
    "ComposeResult",
    "ComposeState",
    "ErrorEvent",
    "EvidenceEvent",
    "ModelServerError",
    "ResultEvent",
    "TextEvent",
    "compose",
    "describe",
]
