"""Documents that say the same, or nearly."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from laya_index.bundle.reader import BundleReader
from laya_index.integrity.minhash import bucket_pairs, jaccard, shingles, signature
from laya_index.integrity.report import NearDuplicate, NearScan
from laya_index.integrity.texts import document_texts


def find_duplicates(
    reader: BundleReader, threshold: float, limit: int, advance: Callable[[int], None]
) -> tuple[tuple[tuple[str, ...], ...], NearScan | None]:
    """Groups of documents whose words are equal, and pairs that are similar by `threshold`.

    Case counts for the former only. Of a group, one document stands for all among the pairs. With
    `limit` 0 there is no scan for pairs. `advance` is told of every document. Raises `BundleError`
    when a file cannot be read.
    """
    groups: dict[bytes, list[str]] = {}
    names: list[str] = []
    signatures = []
    for name, text in document_texts(reader):
        same = groups.setdefault(hashlib.sha256(text.encode()).digest(), [])
        same.append(name)
        if limit and len(same) == 1:
            names.append(name)
            signatures.append(signature(text.casefold()))
        advance(1)
    duplicates = sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1)
    if not limit:
        return tuple(duplicates), None
    pairs: list[tuple[str, str]] = []
    truncated = False
    if signatures:
        for first, second in bucket_pairs(np.stack(signatures), threshold):
            if len(pairs) == limit:
                truncated = True
                break
            pairs.append((names[first], names[second]))
    wanted = {name for pair in pairs for name in pair}
    texts = {name: text for name, text in document_texts(reader) if name in wanted}
    found = _similar(pairs, texts, threshold)
    return tuple(duplicates), NearScan(threshold, limit, len(pairs), truncated, found)


def _similar(
    pairs: Sequence[tuple[str, str]], texts: Mapping[str, str], threshold: float
) -> tuple[NearDuplicate, ...]:
    @lru_cache(maxsize=256)
    def of(name: str) -> set[str]:
        return shingles(texts[name].casefold())

    found = []
    for first, second in sorted(pairs):
        similarity = jaccard(of(first), of(second))
        if similarity >= threshold:
            found.append(NearDuplicate(min(first, second), max(first, second), similarity))
    return tuple(sorted(found, key=lambda pair: (-pair.similarity, pair.first, pair.second)))
