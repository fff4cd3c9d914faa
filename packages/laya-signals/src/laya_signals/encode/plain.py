"""Texts to token ids, with nothing in a text taken for a special token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from laya_signals.errors import EncodeError

if TYPE_CHECKING:
    import tokenizers


def plain_token_ids(tokenizer: tokenizers.Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """The ids of each text without special tokens, uncut.

    Raises `EncodeError`, naming the position, for what is no text (a number, a string with a lone
    surrogate).
    """
    return [encoding.ids for encoding in plain_encodings(tokenizer, texts)]


def plain_encodings(
    tokenizer: tokenizers.Tokenizer, texts: Sequence[str]
) -> list[tokenizers.Encoding]:
    """Each text's tokens without special ones, uncut; raises like `plain_token_ids`."""
    encodings = []
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise EncodeError(f"text {position} is {type(text).__name__}, not str")
        try:
            encodings.append(tokenizer.encode(text, add_special_tokens=False))
        except TypeError as error:
            raise EncodeError(f"text {position} has a lone surrogate, which is no text") from error
    return encodings


def refuse_one_string(texts: Sequence[str]) -> None:
    """Raise `EncodeError` for one string, whose characters would count as texts."""
    if isinstance(texts, str):
        raise EncodeError("give a sequence of texts, not one string")
