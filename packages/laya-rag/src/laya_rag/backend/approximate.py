"""Approximate nearest neighbours: an inverted file that faiss trains, rescored exactly."""

from __future__ import annotations

import importlib.util
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laya_rag.backend.arrays import ArrayFolder, ArrayWriter
from laya_rag.backend.dense import DenseIndex
from laya_rag.backend.ranking import Ranked
from laya_rag.errors import MissingExtraError

#: From this many chunks on an index is made and used unless the caller says otherwise.
FROM_CHUNKS = 50_000

#: What a build has to reach on queries made from the corpus; real ones reach a little less.
TARGET_RECALL = 0.998
RECALL_AT = 10

_SEED = 20240101
_SAMPLE = 256
_TRAIN_PER_LIST = 40
_ITERATIONS = 10
_BATCH = 16384
_LEVELS = 255
# Candidates for each one wanted: one byte a component errs, and exact scores set it right.
_OVERSAMPLING = 3
# A filter that leaves less than this share is served faster by reading what it leaves.
_LEAST_SHARE = 0.2


def available() -> bool:
    """Whether faiss is installed; it is not loaded, which would take memory for good."""
    try:
        return importlib.util.find_spec("faiss") is not None
    except ValueError:  # something put None in its place
        return False


def require() -> None:
    """Raise `MissingExtraError` where faiss is not installed."""
    if not available():
        raise MissingExtraError(
            "approximate search needs faiss: install laya-rag[approximate], or search exactly"
        )


class ApproximateIndex:
    """An inverted file over `exact`'s matrix.

    Vectors lie in lists by their nearest centroid, one byte a component (Jégou, Douze and Schmid,
    "Product Quantization for Nearest Neighbor Search", 2011, for the file; here with scalar
    quantisation). A query reads the nearest lists, and the best of what it finds are scored
    exactly: scores are those of exact search, only a neighbour may be missing.

    The lists are read from their file like any other array, without faiss, which takes more memory
    by itself than everything else that a search holds.
    """

    def __init__(self, arrays: ArrayFolder, exact: DenseIndex) -> None:
        self._arrays = arrays
        self._exact = exact
        self._probes: int | None = arrays.facts["probes"]
        self._centroids: NDArray[np.float32] = arrays["centroids"]
        self._offsets: NDArray[np.int64] = arrays["offsets"]
        self._rows: NDArray[np.uint32] = arrays["rows"]
        self._codes: NDArray[np.uint8] = arrays["codes"]
        self._steps: NDArray[np.float32] = arrays["steps"]

    def top(
        self, query: NDArray[np.float32], depth: int, allowed: NDArray[np.bool_] | None
    ) -> Ranked:
        """Like `DenseIndex.top`; exact where a filter leaves little, or `depth` asks for much."""
        count = len(self._rows)
        permitted = count if allowed is None else int(np.count_nonzero(allowed))
        wanted = min(_OVERSAMPLING * depth, permitted)
        few = permitted < _LEAST_SHARE * count or wanted > _LEAST_SHARE * count
        if few or self._probes is None:
            return self._exact.top(query, depth, allowed)
        # A filter thins out every list: as many more have to be read to see as many candidates.
        probes = min(math.ceil(self._probes * count / permitted), len(self._centroids))
        scores, rows = self._read(query, probes, allowed)
        if len(rows) < min(depth, permitted):
            # A short leg would say that there is nothing more.
            return self._exact.top(query, depth, allowed)
        if len(rows) > wanted:
            rows = rows[np.argpartition(-scores, wanted - 1)[:wanted]]
        return self._exact.ranked(query, rows.astype(np.int64), depth)

    def _read(
        self, query: NDArray[np.float32], probes: int, allowed: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
        """About the scores, up to a constant, of what is allowed in the nearest lists."""
        nearness = np.vecdot(self._centroids, query)
        nearest = np.argpartition(-nearness, probes - 1)[:probes]
        weights = query * self._steps
        scores, rows = [], []
        for place in np.sort(nearest).tolist():
            span = slice(int(self._offsets[place]), int(self._offsets[place + 1]))
            found, codes = self._rows[span], self._codes[span]
            if allowed is not None:
                kept = allowed[found]
                found, codes = found[kept], codes[kept]
            scores.append(np.vecdot(codes.astype(np.float32), weights))
            rows.append(found)
        self._arrays.release()
        return np.concatenate(scores), np.concatenate(rows)


def write_approximate(writer: ArrayWriter, matrix: NDArray[Any]) -> dict[str, Any]:
    """Write the arrays of an `ApproximateIndex` over `matrix`, `(n, d)`; give the folder's facts.

    They are `lists`, `probes` and the `recall` at 10 that so many probes reach on queries made from
    the corpus, or `probes` None where reading half of the lists does not reach `TARGET_RECALL`:
    such a corpus has no neighbourhoods, and exact search serves it better. Raises
    `MissingExtraError` without faiss.
    """
    require()
    import faiss

    count, dimension = matrix.shape
    generator = np.random.default_rng(_SEED)
    lists = max(1, min(count // _TRAIN_PER_LIST, int(2 * math.sqrt(count))))
    sample = np.sort(generator.choice(count, min(count, lists * _TRAIN_PER_LIST), replace=False))
    means = faiss.Kmeans(dimension, lists, niter=_ITERATIONS, seed=_SEED, spherical=True)
    means.train(matrix[sample].astype(np.float32))
    centroids = np.asarray(means.centroids, np.float32)

    list_of = np.empty(count, np.int64)
    low, high = np.full(dimension, np.inf, np.float32), np.full(dimension, -np.inf, np.float32)
    for start in range(0, count, _BATCH):
        block = matrix[start : start + _BATCH].astype(np.float32)
        list_of[start : start + _BATCH] = means.index.search(block, 1)[1][:, 0]
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
    steps = (high - low) / np.float32(_LEVELS)
    steps[steps == 0] = 1
    order = np.argsort(list_of, kind="stable")
    with writer.stream("codes", np.uint8, (dimension,)) as codes:
        for start in range(0, count, _BATCH):
            block = matrix[order[start : start + _BATCH]].astype(np.float32)
            codes.append(np.rint((block - low) / steps).clip(0, _LEVELS).astype(np.uint8))
    sizes = np.bincount(list_of, minlength=lists)
    writer.put("offsets", np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
    writer.put("rows", order.astype(np.uint32))
    writer.put("centroids", centroids)
    writer.put("steps", steps)
    probes, recall = _calibrated(matrix, centroids, list_of, generator)
    return {"lists": lists, "probes": probes, "recall": recall}


def _calibrated(
    matrix: NDArray[Any],
    centroids: NDArray[np.float32],
    list_of: NDArray[np.int64],
    generator: np.random.Generator,
) -> tuple[int | None, float]:
    """The fewest probes that reach the target, and the share of true neighbours in those lists."""
    count, lists = len(matrix), len(centroids)
    queries, first, second = (
        matrix[generator.choice(count, min(count, _SAMPLE), replace=False)].astype(np.float32)
        for _ in range(3)
    )
    # Questions are no passages. A passage moved by as much as itself, in a direction in which the
    # corpus varies, needs about as many probes as they do; moved at random, it needs far fewer.
    away = first - second
    lengths = np.linalg.norm(away, axis=1, keepdims=True)
    queries += away * np.divide(
        np.linalg.norm(queries, axis=1, keepdims=True),
        lengths,
        out=np.zeros_like(lengths),
        where=lengths > 0,
    )
    truth = _exact_neighbours(matrix, queries, min(RECALL_AT, count))
    order = np.argsort(-(queries @ centroids.T), axis=1, kind="stable")
    places = np.empty_like(order)
    np.put_along_axis(places, order, np.arange(lists)[None, :], axis=1)
    needed = np.sort(np.take_along_axis(places, list_of[truth], axis=1).ravel()) + 1
    probes = int(needed[math.ceil(TARGET_RECALL * len(needed)) - 1])
    if lists > 1 and probes > lists // 2:
        probes = lists // 2
        return None, float(np.mean(needed <= probes))
    return probes, float(np.mean(needed <= probes))


def _exact_neighbours(
    matrix: NDArray[Any], queries: NDArray[np.float32], depth: int
) -> NDArray[np.int64]:
    """The best `depth` rows of each query, `(queries, depth)`, in no particular order."""
    scores = np.empty((len(queries), 0), np.float32)
    rows = np.empty((len(queries), 0), np.int64)
    for start in range(0, len(matrix), _BATCH):
        block = matrix[start : start + _BATCH].astype(np.float32)
        scores = np.hstack([scores, queries @ block.T])
        here = np.broadcast_to(np.arange(start, start + len(block)), (len(queries), len(block)))
        rows = np.hstack([rows, here])
        if scores.shape[1] > depth:
            kept = np.argpartition(-scores, depth - 1, axis=1)[:, :depth]
            scores = np.take_along_axis(scores, kept, axis=1)
            rows = np.take_along_axis(rows, kept, axis=1)
    return rows
