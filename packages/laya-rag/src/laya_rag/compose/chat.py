"""A route that a language model is asked by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from laya_rag.compose.errors import ModelServerError
from laya_rag.compose.prompt import Message
from laya_rag.config import ComposeSettings


@dataclass(frozen=True, slots=True)
class Piece:
    """What one object of the stream adds."""

    text: str
    #: Whether it is the last.
    ended: bool = False
    #: The server's word for why.
    finish: str | None = None


class Chat(Protocol):
    """How a server is asked, and how its stream is read."""

    #: Behind the server's address.
    route: ClassVar[str]
    #: The media type of its stream.
    media_type: ClassVar[str]

    def body(self, settings: ComposeSettings, messages: Sequence[Message]) -> dict[str, Any]:
        """The request."""
        ...

    def objects(self, chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        """The objects of a stream; raises `ModelServerError`."""
        ...

    def read(self, found: Mapping[str, Any], settings: ComposeSettings) -> Piece:
        """What an object says; raises `ModelServerError`, also where the model saw too little."""
        ...

    def missing(self, model: str, address: str) -> str:
        """What to do where the server has no such model."""
        ...


#: Words for an end at which the answer is whole.
WHOLE = frozenset({"stop", "eos", "end_turn", "stop_sequence"})
_CUT = {"length": "length", "max_tokens": "length", "content_filter": "content_filter"}


def truncation(finish: str | None) -> str | None:
    """Why an answer that ended so is not whole; None where it is.

    An answer is whole where the server says so. A word that is not known does not say so.
    """
    return None if finish in WHOLE else _CUT.get(finish or "", "unknown_finish")


def text_of(value: Any) -> str:
    """A text, or none; raises `ModelServerError` for anything else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ModelServerError(
            "bad_response", "the language model's server sent an answer that is no text"
        )
    return value


def object_of(value: Any) -> Mapping[str, Any]:
    """An object, or none; raises `ModelServerError` for anything else."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ModelServerError("bad_response", "what the language model's server sent is no chat")
    return value
