"""How much of one text another already says, word for word."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

__all__ = ["SHINGLE_TERMS", "shingle_similarity"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Terms in a row that make a shingle (Broder 1997): long enough that two texts about one subject
#: share few, short enough that a reworded copy still shares many.
SHINGLE_TERMS = 3

# Ideographs and kana are terms of their own, since nothing separates their words.
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_TERM = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


def shingle_similarity(texts: Sequence[str]) -> Floats:
    """(n, n) float64 in [0, 1]: the part of the smaller text's shingles that the other contains.

    This is the overlap coefficient |A ∩ B| / min(|A|, |B|) over sets of three-term shingles: 1.0
    for a copy or an excerpt, 0.0 for texts that share no three words in a row. Case, punctuation
    and white space do not count. A text of one or two terms is a shingle by itself, one without
    any is like nothing. Symmetric with a zero diagonal.
    """
    rows, shingles = _shingles(texts)
    n = len(texts)
    # Each shingle of a text once, by ascending shingle.
    shingles, rows = np.divmod(np.unique(shingles * n + rows), max(n, 1))
    sizes = np.bincount(rows, minlength=n)
    often = np.bincount(shingles)[shingles] > 1  # most occur in one text only
    shared = _common(rows[often], shingles[often], n)
    similarity: Floats = shared / np.maximum(np.minimum(sizes[:, None], sizes), 1)
    np.fill_diagonal(similarity, 0.0)
    return similarity


def _shingles(texts: Sequence[str]) -> tuple[Ints, Ints]:
    """For every three terms in a row, the number of their text and that of the shingle."""
    numbers: dict[str, int] = {}
    windows = [np.empty((0, SHINGLE_TERMS), dtype=np.int64)]
    lengths = []
    for text in texts:
        terms = [
            numbers.setdefault(term, len(numbers) + 1) for term in _TERM.findall(text.casefold())
        ]
        if terms:  # a short text is padded with 0, which is the number of no term
            terms += [0] * (SHINGLE_TERMS - len(terms))
            windows.append(sliding_window_view(np.array(terms, dtype=np.int64), SHINGLE_TERMS))
        lengths.append(max(0, len(terms) - SHINGLE_TERMS + 1))
    terms_in_a_row = np.concatenate(windows)
    shingles = terms_in_a_row[:, 0]
    for place in range(1, SHINGLE_TERMS):
        # Renumbered at every step, so that the products never overflow.
        _, shingles = np.unique(shingles, return_inverse=True)
        shingles = shingles * (len(numbers) + 1) + terms_in_a_row[:, place]
    _, shingles = np.unique(shingles, return_inverse=True)
    return np.repeat(np.arange(len(texts)), lengths), shingles


def _common(rows: Ints, shingles: Ints, n: int) -> Ints:
    """(n, n) counts of common shingles; the cells ascend by shingle and then by row."""
    shared = np.zeros(n * n, dtype=np.int64)
    step = 1
    # A shingle's rows stand next to each other: pair each with the next, the one after, …
    while (same := np.flatnonzero(shingles[:-step] == shingles[step:])).size:
        shared += np.bincount(rows[same] * n + rows[same + step], minlength=n * n)
        step += 1
    upper = shared.reshape(n, n)
    return upper + upper.T
