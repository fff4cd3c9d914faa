"""The chat route of OpenAI, which many servers speak."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from laya_rag.compose.chat import Piece, object_of, text_of
from laya_rag.compose.errors import ModelServerError
from laya_rag.compose.lines import sse_objects
from laya_rag.compose.prompt import Message
from laya_rag.config import ComposeSettings


class OpenAIChat:
    """`POST /chat/completions`, server-sent events."""

    route: ClassVar[str] = "/chat/completions"
    media_type: ClassVar[str] = "text/event-stream"

    def body(self, settings: ComposeSettings, messages: Sequence[Message]) -> dict[str, Any]:
        """The request; `compose.extra` may say otherwise.

        Newer models want `max_completion_tokens`, which stands for `max_tokens` if it is there.
        """
        limits = {
            "max_tokens": settings.max_tokens,
            "temperature": settings.temperature,
            "seed": settings.seed,
        }
        if "max_completion_tokens" in settings.extra:
            del limits["max_tokens"]
        return {
            "model": settings.model,
            "messages": list(messages),
            "stream": True,
            **{name: value for name, value in limits.items() if value is not None},
            **settings.extra,
        }

    def objects(self, chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        """One for each event."""
        return sse_objects(chunks)

    def read(self, found: Mapping[str, Any], settings: ComposeSettings) -> Piece:  # noqa: ARG002
        """The content of its first choice; `reasoning_content` and the like are not read."""
        choices = found.get("choices") or []
        if not isinstance(choices, list):
            raise ModelServerError(
                "bad_response", "what the language model's server sent is no chat"
            )
        if not choices:
            return Piece("")  # what it cost, for one
        choice = object_of(choices[0])
        text = text_of(object_of(choice.get("delta")).get("content"))
        finish = text_of(choice.get("finish_reason")) or None
        return Piece(text, ended=finish is not None, finish=finish)

    def missing(self, model: str, address: str) -> str:  # noqa: ARG002
        """Where to look."""
        return f"set compose.model to one that {address}/models lists"
