"""MinHash signatures and the pairs that locality-sensitive hashing puts into one bucket.

Broder, "On the resemblance and containment of documents" (1997); the banding of Leskovec,
Rajaraman and Ullman, *Mining of Massive Datasets*, section 3.4, whose section 3.2 also gives the
length of a shingle. Everything is fixed: the same texts give the same pairs on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

#: Characters of a shingle, and hash functions of a signature.
SHINGLE = 9
FUNCTIONS = 128
# Chance that two documents which are as similar as the threshold share no bucket.
_MISS = 1e-3
_BLOCK = 4096


def shingles(text: str) -> set[str]:
    """Every run of `SHINGLE` characters of `text`; the text itself when it is shorter."""
    return {text[i : i + SHINGLE] for i in range(max(1, len(text) - SHINGLE + 1))}


def jaccard(first: set[str], second: set[str]) -> float:
    """Size of the intersection over size of the union; neither set is empty."""
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared)


def signature(text: str) -> NDArray[np.uint32]:
    """The MinHash signature of the shingles of `text`: `(FUNCTIONS,)`.

    Two signatures agree in a component with a probability of about the Jaccard similarity.
    """
    hashes = _shingle_hashes(text)
    least = np.full(FUNCTIONS, np.iinfo(np.uint32).max, np.uint32)
    for start in range(0, len(hashes), _BLOCK):
        # Each function permutes the 2^32 values: x -> factor x + summand, the factor odd.
        values = np.multiply.outer(_FACTORS, hashes[start : start + _BLOCK])
        values += _SUMMANDS[:, None]
        np.minimum(least, values.min(axis=1), out=least)
    return least


def rows_per_band(threshold: float) -> int:
    """Components that must agree for a bucket: as many as miss one pair in a thousand at most."""
    for rows in (16, 8, 4, 2):
        if (1 - threshold**rows) ** (FUNCTIONS // rows) <= _MISS:
            return rows
    return 1


def bucket_pairs(signatures: NDArray[np.uint32], threshold: float) -> Iterator[tuple[int, int]]:
    """Pairs of rows `(i, j)`, i < j, that share a bucket; each once, in a fixed order."""
    rows = rows_per_band(threshold)
    seen: set[tuple[int, int]] = set()
    for start in range(0, FUNCTIONS, rows):
        band = np.ascontiguousarray(signatures[:, start : start + rows])
        _, bucket = np.unique(band, axis=0, return_inverse=True)
        bucket = bucket.reshape(-1)
        order = np.argsort(bucket, kind="stable")
        borders = np.flatnonzero(np.diff(bucket[order])) + 1
        for members in np.split(order, borders):
            for place, first in enumerate(members[:-1].tolist()):
                for second in members[place + 1 :].tolist():
                    if (first, second) not in seen:
                        seen.add((first, second))
                        yield first, second


def _shingle_hashes(text: str) -> NDArray[np.uint32]:
    """A hash of every shingle of `text`; the same shingle may be there several times."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    length = min(SHINGLE, len(codes))
    total = np.zeros(len(codes) - length + 1, np.uint64)
    for place in range(length):
        total = total * _BASE + codes[place : place + len(total)]
    return _upper(_mixed(total))


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _upper(values: NDArray[np.uint64]) -> NDArray[np.uint32]:
    return (values >> np.uint64(32)).astype(np.uint32)


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_BASE = np.uint64(0x100000001B3)
_DRAWN = _upper(_mixed(np.arange(1, 2 * FUNCTIONS + 1, dtype=np.uint64) * _GOLDEN))
_FACTORS = _DRAWN[:FUNCTIONS] | np.uint32(1)
_SUMMANDS = _DRAWN[FUNCTIONS:]
