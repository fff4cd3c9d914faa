from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laya_rag.backend.arrays import BLOCK, ArrayFolder, ArrayWriter
from laya_rag.backend.dense import DenseIndex
from numpy.typing import NDArray


def index(matrix: NDArray[np.floating], places: NDArray[np.uint32] | None = None) -> DenseIndex:
    if places is None:
        places = np.arange(len(matrix), dtype=np.uint32)
    with tempfile.TemporaryDirectory() as folder:
        writer = ArrayWriter(Path(folder))
        writer.put("m", matrix)
        norms = np.linalg.norm(matrix.astype(np.float64), axis=1)
        writer.finish({"norms": {"m": float(norms.max(initial=0))}})
        return DenseIndex(ArrayFolder(Path(folder)), "m", places)


def brute(
    matrix: NDArray[np.floating],
    query: NDArray[np.float32],
    depth: int,
    allowed: NDArray[np.bool_] | None = None,
    places: NDArray[np.uint32] | None = None,
) -> list[tuple[int, float]]:
    exact = [float((row.astype(np.float64) * query.astype(np.float64)).sum()) for row in matrix]
    rows = [n for n in range(len(matrix)) if allowed is None or allowed[n]]
    rows.sort(key=lambda n: (-exact[n], n if places is None else places[n]))
    return [(n, exact[n]) for n in rows[:depth]]


def found(
    built: DenseIndex, query: NDArray[np.float32], depth: int, allowed: NDArray[np.bool_] | None
) -> list[tuple[int, float]]:
    ranked = built.top(query, depth, allowed)
    return list(zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True))


@settings(deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 40),
    st.sampled_from([1, 2, 7, 33]),
    st.sampled_from([np.float32, np.float16]),
    st.integers(1, 50),
    st.sampled_from([None, 0.0, 0.05, 0.5, 1.0]),
)
def test_it_is_brute_force(
    seed: int, count: int, dimension: int, dtype: type, depth: int, share: float | None
) -> None:
    generator = np.random.default_rng(seed)
    # Few different values: ties and near ties all over.
    matrix = generator.integers(-2, 3, (count, dimension)).astype(dtype)
    query = (generator.integers(-2, 3, dimension) / 3).astype(np.float32)
    allowed = None if share is None else generator.random(count) < share
    places = generator.permutation(count).astype(np.uint32)
    assert found(index(matrix, places), query, depth, allowed) == brute(
        matrix, query, depth, allowed, places
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("share", [None, 0.02, 0.6])
def test_several_blocks(dtype: type, share: float | None) -> None:
    generator = np.random.default_rng(1)
    matrix = generator.standard_normal((2 * BLOCK + 77, 24)).astype(dtype)
    query = generator.standard_normal(24).astype(np.float32)
    allowed = None if share is None else generator.random(len(matrix)) < share
    assert found(index(matrix), query, 30, allowed) == brute(matrix, query, 30, allowed)


def test_a_block_that_nobody_may_see_is_skipped() -> None:
    generator = np.random.default_rng(2)
    matrix = generator.standard_normal((2 * BLOCK, 4)).astype(np.float32)
    allowed = np.arange(2 * BLOCK) < BLOCK
    query = generator.standard_normal(4).astype(np.float32)
    assert found(index(matrix), query, 5, allowed) == brute(matrix, query, 5, allowed)


def test_vectors_that_differ_by_less_than_single_precision_sees_are_told_apart() -> None:
    query = np.array([1.0, 2.0**-30], np.float32)
    matrix = np.array([[1, -1], [1, 0], [1, 1]], np.float32)
    assert [row for row, _ in found(index(matrix), query, 2, None)] == [2, 1]
