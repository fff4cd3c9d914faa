"""Porter's stemmer as its author's programs have it, and Lucene after them.

M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980), with the three departures of
his own implementations: words of one or two letters stay, `bli` becomes `ble` (the paper has `abli`
and `able`), and `logi` becomes `log`. Snowball's `porter` has none of these, and undoubles fewer
letters: "cardiology" and "cardiological" share a stem here and not there.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Longest first where one ending is part of another, as the algorithm takes the longest.
_STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
)
_STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4 = tuple(
    "ement ance ence able ible ment ant ent ion ism ate iti ous ive ize al er ic ou".split()
)
# A word as its author writes it, c for a consonant and v for a vowel.
_MEASURE = re.compile("v+c+")


@lru_cache(maxsize=1 << 17)
def porter_stem(word: str) -> str:
    """The stem of a word in small letters.

    >>> [porter_stem(word) for word in ("ecology", "ecological", "possibly", "is")]
    ['ecolog', 'ecolog', 'possibl', 'is']
    """
    if len(word) <= 2:
        return word
    word = _plurals_and_tenses(word)
    if word.endswith("y") and "v" in _letters(word[:-1]):
        word = f"{word[:-1]}i"
    for rules in (_STEP_2, _STEP_3):
        for ending, other in rules:
            if word.endswith(ending):
                stem = word.removesuffix(ending)
                word = stem + other if _measure(stem) > 0 else word
                break
    return _tidy(_bare(word))


def _plurals_and_tenses(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    ending = "ed" if word.endswith("ed") else "ing" if word.endswith("ing") else ""
    stem = word.removesuffix(ending)
    if not ending or "v" not in _letters(stem):
        return word
    if stem.endswith(("at", "bl", "iz")):
        return f"{stem}e"
    if _doubled(stem):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return f"{stem}e" if _measure(stem) == 1 and _short(stem) else stem


def _bare(word: str) -> str:
    """Without the last of the endings that a long enough stem can do without."""
    for ending in _STEP_4:
        if word.endswith(ending):
            stem = word.removesuffix(ending)
            if ending == "ion" and not stem.endswith(("s", "t")):
                return word
            return stem if _measure(stem) > 1 else word
    return word


def _tidy(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _letters(word: str) -> str:
    """Each letter as c (consonant) or v (vowel); y is a vowel after a consonant."""
    kinds = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if vowel else "c"
    return kinds


def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant."""
    return len(_MEASURE.findall(_letters(word)))


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _letters(word)[-1] == "c"


def _short(word: str) -> bool:
    """Ends with consonant, vowel, consonant, of which the last is none of w, x, y: hop, fil."""
    return _letters(word)[-3:] == "cvc" and word[-1] not in "wxy"
