"""Acronyms, and the long forms that a text gives for them."""

from __future__ import annotations

import regex

#: Two capitals or more, digits, hyphens between: RRF, BM25, COVID-19, mRNA; a plural s is no part
#: of it.
_ACRONYM = regex.compile(r"(?P<short>\p{Ll}{0,2}\p{Lu}(?:-?[\p{Lu}\p{N}]){1,11})s?")
#: Roman numbers, which number something and name nothing.
ROMAN = frozenset("II III IV VI VII VIII IX XI XII XIII XIV XV XVI".split())


def acronym(word: str) -> str | None:
    """`word` without its plural s if it is written like an acronym, else None.

    >>> acronym("FDEs"), acronym("Word"), acronym("XIV")
    ('FDE', None, None)
    """
    if word[1:].islower():
        return None  # most words, without the pattern
    match = _ACRONYM.fullmatch(word)
    if match is None:
        return None
    short: str = match["short"]
    if sum(char.isupper() for char in short) < 2 or short in ROMAN:
        return None
    return short


def most_words(short: str) -> int:
    """How many words a long form may have: min(|A| + 5, 2 |A|)."""
    return min(len(short) + 5, 2 * len(short))


def long_form_start(short: str, text: str, *, initials: bool = False) -> int | None:
    """Where in `text`, the words before `(short)`, the long form begins; None where there is none.

    The shortest run of words at the end that has the acronym's letters and digits in order, its
    first one at the start of a word. Source: Schwartz and Hearst, "A simple algorithm for
    identifying abbreviation definitions in biomedical text" (PSB 2003). With `initials`, each
    letter must begin a word; so must both of an acronym of two letters, which chance would find in
    every other word.

    >>> long_form_start("RRF", "we use reciprocal rank fusion")
    7
    """
    place = len(text)
    wanted = [char for char in short.casefold() if char.isalnum()]
    initials = initials or len(wanted) < 3
    for index in range(len(wanted) - 1, -1, -1):
        begins = index == 0 or (initials and wanted[index].isalpha())
        place -= 1
        while place >= 0 and not (
            text[place].casefold() == wanted[index]
            and (not begins or place == 0 or not text[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return None
    start = place
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "-"):
        start -= 1  # a hyphenated first word is one word
    long = text[start:]
    if len(long) <= len(short) or short.casefold() in long.casefold().split():
        return None
    return start
