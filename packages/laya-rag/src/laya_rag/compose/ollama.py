"""Ollama's native chat route, which alone can switch a model's thinking off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from laya_rag.compose.chat import Piece, object_of, text_of
from laya_rag.compose.errors import ModelServerError
from laya_rag.compose.lines import line_objects
from laya_rag.compose.prompt import Message
from laya_rag.config import ComposeSettings


class OllamaChat:
    """`POST /api/chat`, a JSON object on each line.

    Left alone, Ollama drops the beginning of a prompt that is longer than the model's window, and
    answers from the rest. It is told not to; one that is too old to listen gives itself away by its
    counts.
    """

    route: ClassVar[str] = "/api/chat"
    media_type: ClassVar[str] = "application/x-ndjson"

    def body(self, settings: ComposeSettings, messages: Sequence[Message]) -> dict[str, Any]:
        """The request; `compose.extra` may say otherwise, its `options` one by one."""
        options = {
            "num_ctx": settings.context,
            "num_predict": settings.max_tokens,
            "temperature": settings.temperature,
            "seed": settings.seed,
        }
        extra = dict(settings.extra)
        given = {name: value for name, value in options.items() if value is not None}
        return {
            "model": settings.model,
            "messages": list(messages),
            "stream": True,
            "think": False,
            "truncate": False,
            "shift": False,
            "options": {**given, **object_of(extra.pop("options", None))},
            **extra,
        }

    def objects(self, chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        """One for each line."""
        return line_objects(chunks)

    def read(self, found: Mapping[str, Any], settings: ComposeSettings) -> Piece:
        """The content of its message; `thinking` beside it is not read."""
        text = text_of(object_of(found.get("message")).get("content"))
        if not found.get("done"):
            return Piece(text)
        counts = (found.get(name) for name in ("prompt_eval_count", "eval_count"))
        read, written = (count if isinstance(count, int) else 0 for count in counts)
        if read >= settings.context or read + written > settings.context:
            raise ModelServerError(
                "evidence_too_long",
                f"the model's window of {settings.context} tokens was full, and a part of the "
                "evidence was dropped: raise compose.context, or lower compose.evidence",
            )
        return Piece(text, ended=True, finish=text_of(found.get("done_reason")) or None)

    def missing(self, model: str, address: str) -> str:
        """How to get it."""
        return f"run `ollama pull {model}` where {address} runs, or name another compose.model"
