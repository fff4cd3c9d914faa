"""BM25 and BM25F term weights, the same at index time and at query time.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
never-negative inverse document frequency that Lucene uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

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
    return _saturated(frequency, _length_norm(length, average_length, b), k1)


class FieldFrequencies(NamedTuple):
    """What one field of the documents says about a term.

    `frequencies` `(n,)` is how often the term stands in the field of each of n documents, `lengths`
    `(n,)` how many terms that field holds there, `average_length` their mean over all documents.
    `weight` is what one occurrence counts, `b` in 0..1 how much the field's length matters.
    """

    frequencies: ArrayLike
    lengths: ArrayLike
    average_length: float
    weight: float
    b: float


def field_saturation(fields: Sequence[FieldFrequencies], *, k1: float) -> NDArray[np.float64]:
    """BM25F: `t (k1 + 1) / (t + k1)`, t the sum of `weight · tf / (1 - b + b · length / average)`.

    Each field has a weight and a length normalisation of its own; the sum saturates once, so that a
    term in two fields is not counted as two terms. `(n,)`; one field of weight 1 gives the very
    bits of `saturation`. Raises `ValueError` without a field. Source: Robertson and Zaragoza
    (2009), section 3.6; Zaragoza et al., "Microsoft Cambridge at TREC-13" (2004).
    """
    if not fields:
        raise ValueError("BM25F needs at least one field")
    norms = [_length_norm(item.lengths, item.average_length, item.b) for item in fields]
    # Numerator and denominator times the first field's norm: with that field alone, what is left
    # is BM25 to the bit. An empty field has norm 0 where b is 1; any other factor will do there.
    scale = np.where(norms[0] > 0, norms[0], 1.0)
    total = np.zeros(np.shape(fields[0].frequencies))
    for item, norm in zip(fields, norms, strict=True):
        frequency = np.asarray(item.frequencies, dtype=np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            part = item.weight * frequency * (scale / norm)
        total = total + np.where(frequency > 0, part, 0.0)
    return _saturated(total, scale, k1)


def _length_norm(length: ArrayLike, average_length: float, b: float) -> NDArray[np.float64]:
    relative = np.asarray(length, dtype=np.float64) / average_length if average_length > 0 else 1.0
    return np.asarray(1.0 - b + b * relative)


def _saturated(
    frequency: NDArray[np.float64], norm: NDArray[np.float64], k1: float
) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = frequency * (k1 + 1.0) / (frequency + k1 * norm)
    return np.where(frequency > 0, weight, 0.0)
