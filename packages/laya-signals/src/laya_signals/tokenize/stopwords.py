"""Words too common to be worth searching for."""

from __future__ import annotations

#: The thirty-three English words that Lucene's `EnglishAnalyzer` drops; published BM25 figures
#: "with stop words dropped" mean this list.
ENGLISH = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with".split()
)

# Two names for one list: the language, and where it is from.
_OWN = {"english": ENGLISH, "lucene": ENGLISH}
# Written without spaces: their terms are pairs of characters, which no list of words applies to.
_UNSPACED = frozenset({"chinese", "japanese", "korean"})


def languages() -> list[str]:
    """Every name of a list, sorted."""
    from stop_words import AVAILABLE_LANGUAGES  # type: ignore[import-untyped,unused-ignore]

    return sorted({*_OWN, *AVAILABLE_LANGUAGES} - _UNSPACED)


def is_own(name: str) -> bool:
    """Whether the list ships here, and so changes with a component's version only."""
    return name in _OWN


def stop_list(name: str) -> list[str]:
    """The words of a list, sorted; those of other languages are from the package `stop-words`.

    Raises `KeyError` for an unknown name.
    """
    if (own := _OWN.get(name)) is not None:
        return sorted(own)
    if name not in languages():
        raise KeyError(name)
    from stop_words import get_stop_words

    return sorted(get_stop_words(name))
