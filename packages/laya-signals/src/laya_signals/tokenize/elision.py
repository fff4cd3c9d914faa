"""Articles and pronouns that lose their vowel before another: l'homme, dell'arte."""

from __future__ import annotations

import re

# By language, as in Lucene's analyzers of these languages.
_ELIDED = {
    "catalan": "d l m n s t",
    "french": "c d j jusqu l lorsqu m n puisqu qu quoiqu s t",
    "italian": "agl all c coll d dagl dall degl dell gl l m negl nell pell s sugl sull t un v",
}


def elided_words(language: str | None) -> tuple[str, ...]:
    """What may be elided in a language; nothing in most."""
    return tuple(_ELIDED.get(language or "", "").split())


def elision(language: str | None) -> re.Pattern[str] | None:
    """Matches an elided word and its apostrophe before another word, in small letters."""
    words = elided_words(language)
    if not words:
        return None
    return re.compile(rf"(?<![\w'])(?:{'|'.join(words)})'(?=[^\W\d_])")
