"""Words too common to be worth searching for."""

from __future__ import annotations

#: The thirty-three English words that Lucene's `EnglishAnalyzer` drops; published BM25 figures
#: "with stop words dropped" mean this list.
ENGLISH = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with".split()
)

BY_LANGUAGE = {"english": ENGLISH}
