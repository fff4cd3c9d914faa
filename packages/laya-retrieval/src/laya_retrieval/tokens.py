"""Token counters: how many tokens of a reader's context a text will take.

A counter is any callable from a text to a non-negative int. Two come by name: "heuristic", which
needs no model and no download, and "tiktoken:<encoding>" (extra `tiktoken`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TypeAlias

from laya_signals.errors import MissingExtraError

from laya_retrieval.errors import PackError

__all__ = ["TokenCounter", "count_tokens", "heuristic_tokens", "resolve_counter"]

#: A text to its number of tokens, a non-negative int.
TokenCounter: TypeAlias = Callable[[str], int]

# Scripts written without spaces, of which subword vocabularies hold little more than the single
# characters: Han, kana, Hangul, Thai, Lao, Khmer, Myanmar, Tibetan, full-width forms, emoji.
_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u30ff\u3100-\u312f"
    "\u3130-\u318f\u31a0-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
    "\U0001b000-\U0001b16f\U0001f000-\U0001faff\U00020000-\U0003ffff"
)
# The quantifiers cut a run into ceil(length / limit) pieces, so that one scan counts everything.
# Letters other than ASCII, accented Latin included, take more bytes and more tokens.
_PIECE = re.compile(
    rf"[a-zA-Z]{{1,9}}|\d{{1,3}}|[{_UNSPACED}]|(?:(?![a-zA-Z\d{_UNSPACED}])\w){{1,3}}|\S"
)


def heuristic_tokens(text: str) -> int:
    """An estimate of the subword tokens of `text`, from its characters alone.

    The sum over the pieces of the text, white space being free: a run of ASCII letters costs
    ceil(letters / 9), a run of digits ceil(digits / 3), a run of letters of another alphabet
    ceil(letters / 3), and each ideograph, kana, Hangul syllable, emoji or punctuation mark 1.
    """
    return len(_PIECE.findall(text))


def resolve_counter(counter: str | TokenCounter) -> TokenCounter:
    """The counter that a name stands for; a callable is returned as it is.

    Names: "heuristic" and "tiktoken:<encoding>" ("tiktoken:o200k_base"). Raises `PackError` for
    an unknown name or encoding, `MissingExtraError` when tiktoken is not installed. tiktoken
    fetches an encoding's vocabulary when it is first asked for it.
    """
    if not isinstance(counter, str):
        if not callable(counter):
            raise PackError(f"a token counter is a name or a callable, not {counter!r}")
        return counter
    if counter == "heuristic":
        return heuristic_tokens
    kind, separator, encoding = counter.partition(":")
    if kind == "tiktoken" and separator and encoding:
        return _tiktoken_counter(encoding)
    raise PackError(
        f"unknown token counter {counter!r}; use 'heuristic', 'tiktoken:<encoding>' or a callable"
    )


def _tiktoken_counter(encoding: str) -> TokenCounter:
    try:
        tiktoken = import_module("tiktoken")
    except ImportError as error:
        raise MissingExtraError(
            f"token counter 'tiktoken:{encoding}' needs the package tiktoken: "
            "install laya-retrieval[tiktoken]"
        ) from error
    try:
        loaded = tiktoken.get_encoding(encoding)
    except Exception as error:  # tiktoken raises ValueError, KeyError or what its download raises
        raise PackError(f"tiktoken cannot load the encoding {encoding!r}: {error}") from error
    # disallowed_special=(): a literal "<|endoftext|>" in a passage is text, and must not raise.
    encode = partial(loaded.encode, disallowed_special=())
    return lambda text: len(encode(text))


def count_tokens(counter: TokenCounter, text: str, name: str) -> int:
    """The tokens of `text`; raises `PackError`, naming `name`, unless they are an int ≥ 0."""
    tokens = counter(text)
    if isinstance(tokens, bool) or not hasattr(tokens, "__index__"):
        raise PackError(f"candidate {name!r}: the token counter returned {tokens!r}, not an int")
    if tokens.__index__() < 0:
        raise PackError(f"candidate {name!r}: the token counter returned {tokens}, below zero")
    return tokens.__index__()
