"""BM25 term weights, the same at index time and at query time.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
never-negative inverse document frequency that Lucene uses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def inverse_document_frequency(
    document_frequency: ArrayLike, document_count: int
) -> NDArray[np.float64]:
    """`ln(1 + (N - df + 0.5) / (df + 0.5))`: positive for every `0 <= df <= N`.

    `document_frequency` is any shape; the result has the same shape. Raises `ValueError` when a
    frequency is negative or exceeds `document_count`.
    """
    frequency = np.asarray(document_frequency, dtype=np.float64)
    if frequency.size and (frequency.min() < 0 or frequency.max() > document_count):
        raise ValueError(
            f"document frequencies must lie in 0..{document_count} (the document count), "
            f"not {frequency.min():g}..{frequency.max():g}"
        )
    return np.log1p((document_count - frequency + 0.5) / (frequency + 0.5))


def saturation(
    term_frequency: ArrayLike,
    length: ArrayLike,
    average_length: float,
    *,
    k1: float,
    b: float,
) -> NDArray[np.float64]:
    """`tf (k1 + 1) / (tf + k1 (1 - b + b · length / average_length))`, in 0..k1 + 1.

    `length` and `average_length` are counts of terms; the arrays broadcast against each other. An
    average length of 0 (a corpus without terms) counts every length as average.
    """
    frequency = np.asarray(term_frequency, dtype=np.float64)
    relative = np.asarray(length, dtype=np.float64) / average_length if average_length > 0 else 1.0
    norm = k1 * (1.0 - b + b * relative)
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = frequency * (k1 + 1.0) / (frequency + norm)
    return np.where(frequency > 0, weight, 0.0)
