"""Which sentences of an answer are claims."""

from __future__ import annotations

import re
from collections.abc import Iterable

from laya_retrieval.sentences import Sentence, Span
from laya_retrieval.verify.brackets import BRACKET
from laya_retrieval.verify.markup import MASK

__all__ = ["find_claims"]

_SOURCES = re.compile(
    r"[\s#*_>-]*(?:sources?|references?|citations?|bibliography|works cited|footnotes?|quellen"
    r"|literatur|nachweise|références|fuentes|referencias|fonti|参考文献|来源|出典)[\s*_]*[:：]?[\s*_]*",
    re.IGNORECASE,
)
_SOURCES_LINE = re.compile(
    r"[\s*_>-]*(?:sources?|references?|citations?|quellen|来源|出典)[\s*_]*[:：]", re.IGNORECASE
)
_SOURCES_BEGIN = re.compile(_SOURCES_LINE.pattern + r"[\s*_]*\n", re.IGNORECASE)
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def find_claims(masked: str, sentences: Iterable[Sentence]) -> list[Span]:
    """The spans of the claims among `sentences`, in order.

    A claim is a prose sentence that says something beside its citations: headings, code, lines of
    a table's frame and link definitions are none, and neither is a closing list of sources (from
    a heading or line such as "Sources:" to the next heading). `masked` is the answer with its
    markup masked.
    """
    claims = []
    in_sources = False
    for sentence in sentences:
        text = sentence.span.of(masked)
        if sentence.kind == "heading" or _SOURCES.fullmatch(text) or _SOURCES_BEGIN.match(text):
            in_sources = sentence.kind != "heading" or bool(_SOURCES.fullmatch(text))
            continue
        if sentence.kind != "prose" or in_sources:
            continue
        without_citations = BRACKET.sub(MASK, text)
        listed = _SOURCES_LINE.match(text)
        if listed and not _LETTER_OR_DIGIT.search(without_citations, listed.end()):
            continue
        if _LETTER_OR_DIGIT.search(without_citations):
            claims.append(sentence.span)
    return claims
