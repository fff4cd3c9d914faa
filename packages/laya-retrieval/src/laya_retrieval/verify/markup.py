"""What in an answer is not prose (code, links, footnotes), masked so that offsets stay."""

from __future__ import annotations

import re
from collections.abc import Iterable

from laya_retrieval.sentences import Sentence, Span

__all__ = ["MASK", "blank_out", "mask_markup"]

#: Stands for a masked character: no letter, no digit, no blank, no bracket.
MASK = "\ufffc"

_CODE = re.compile(r"(?<!`)(`{1,8})(?!`)(?:(?!\n[ \t]*\n).){1,1000}?(?<!`)\1(?!`)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,500}>|<(?:https?|mailto|ftp):[^<>\s]*>")
_TARGET = (
    r"\(\s*(?:<[^<>\n]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*)"
    r"(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?\s*\)"
)
_LINK = re.compile(rf"(!?)\[((?:[^\[\]\\\n]|\\.|\[[^\[\]\n]*\]){{0,500}})\]{_TARGET}")
_REFERENCE = re.compile(r"!?\[([^\[\]\n]{1,300})\](?:\[([^\[\]\n]{0,100})\])?")
# A definition that makes a link has an address, and at most a title behind it; `[1]: Annual report`
# is an entry in a list of sources, and leaves `[1]` a citation.
_DEFINED = re.compile(
    r" {0,3}\[([^\]\n]+)\]:\s*(?:<[^<>\n]*>|[^\s/.#:]*[/.#:]\S*)"
    r"(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?\s*"
)
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,100}\]:?")
_URL = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>\"'`\])}，。、；：！？」』]+")
_TRAILING = ".,;:!?)*_"
_BARE_NUMBER = re.compile(r"[\d\s,;–—‑‐−-]*\d[\d\s,;–—‑‐−-]*")


def mask_markup(text: str, sentences: Iterable[Sentence]) -> str:
    """`text` at the same length with code, link targets, footnote marks and tags masked.

    The words of a link stay; a link whose words are only a number is masked whole, as `[1](url)`
    cites nothing. `sentences` are those of `text`.
    """
    characters = list(text)
    defined = set()
    for sentence in sentences:
        if sentence.kind in ("code", "link_definition"):
            _mask(characters, sentence.span.start, sentence.span.end)
        label = _DEFINED.fullmatch(sentence.span.of(text))
        if sentence.kind == "link_definition" and label:
            defined.add(_label(label.group(1)))
    for pattern in (_CODE, _COMMENT, _FOOTNOTE):
        for match in pattern.finditer("".join(characters)):
            _mask(characters, *match.span())
    for match in _LINK.finditer("".join(characters)):
        _mask_link(characters, match)
    if defined:
        for match in _REFERENCE.finditer("".join(characters)):
            # [words][label], [label][] and [label], each only when the label is defined.
            label_text = match.group(2) or match.group(1)
            if _label(label_text) in defined:
                _mask_link(characters, match, group=1)
            elif match.group(2) and _label(match.group(1)) in defined:
                _mask(characters, match.start(), match.end(1) + 1)
    for pattern in (_TAG, _URL):
        for match in pattern.finditer("".join(characters)):
            end = match.end()
            if pattern is _URL:
                end = match.start() + len(match.group().rstrip(_TRAILING))
            _mask(characters, match.start(), end)
    return "".join(characters)


def blank_out(text: str, spans: Iterable[Span]) -> str:
    """`text` at the same length with `spans` masked."""
    characters = list(text)
    for span in spans:
        _mask(characters, span.start, span.end)
    return "".join(characters)


def _mask(characters: list[str], start: int, end: int) -> None:
    for place in range(start, end):
        if not characters[place].isspace():
            characters[place] = MASK


def _mask_link(characters: list[str], match: re.Match[str], group: int = 2) -> None:
    """Masks everything of a link but its words, and those too when they are only a number."""
    words = match.group(group)
    if _BARE_NUMBER.fullmatch(words.strip("[]")) or match.group().startswith("!"):
        _mask(characters, *match.span())
        return
    _mask(characters, match.start(), match.start(group))
    _mask(characters, match.end(group), match.end())


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()
