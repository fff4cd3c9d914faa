from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from laya_rag.backend import approximate
from laya_rag.backend.approximate import ApproximateIndex, write_approximate
from laya_rag.backend.arrays import ArrayFolder, ArrayWriter
from laya_rag.backend.dense import DenseIndex
from laya_rag.errors import MissingExtraError
from numpy.typing import NDArray

COUNT, DIMENSION = 4000, 32


def clustered(seed: int = 0, count: int = COUNT) -> NDArray[np.float32]:
    generator = np.random.default_rng(seed)
    centres = generator.standard_normal((count // 40, DIMENSION))
    rows = centres[generator.integers(0, len(centres), count)]
    rows = rows + 0.35 * generator.standard_normal(rows.shape)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def build(folder: Path, matrix: NDArray[np.float32]) -> tuple[DenseIndex, Path]:
    for name in ("exact", "approximate"):
        (folder / name).mkdir()
    writer = ArrayWriter(folder / "exact")
    writer.put("m", matrix)
    writer.finish({"norms": {"m": 1.0}})
    places = np.arange(len(matrix), dtype=np.uint32)
    exact = DenseIndex(ArrayFolder(folder / "exact"), "m", places)
    writer = ArrayWriter(folder / "approximate")
    writer.finish(write_approximate(writer, matrix))
    return exact, folder / "approximate"


@pytest.fixture(scope="module")
def indexes() -> tuple[DenseIndex, ApproximateIndex]:
    with tempfile.TemporaryDirectory() as folder:
        exact, path = build(Path(folder), clustered())
        return exact, ApproximateIndex(ArrayFolder(path), exact)


def queries(count: int) -> NDArray[np.float32]:
    generator = np.random.default_rng(9)
    rows = clustered()[generator.integers(0, COUNT, count)]
    rows = rows + 0.1 * generator.standard_normal(rows.shape)
    return rows.astype(np.float32)


@pytest.mark.parametrize("share", [None, 0.5, 0.25])
def test_recall_at_10_is_at_least_99_percent(
    indexes: tuple[DenseIndex, ApproximateIndex], share: float | None
) -> None:
    exact, index = indexes
    allowed = None if share is None else np.random.default_rng(3).random(COUNT) < share
    hits = 0
    for query in queries(100):
        truth, found = exact.top(query, 10, allowed), index.top(query, 10, allowed)
        assert allowed is None or allowed[found.rows].all()
        hits += len(set(truth.rows.tolist()) & set(found.rows.tolist()))
    assert hits / 1000 >= 0.99


def test_scores_are_the_exact_ones(indexes: tuple[DenseIndex, ApproximateIndex]) -> None:
    exact, index = indexes
    for query in queries(5):
        found = index.top(query, 10, None)
        assert found.scores.tolist() == exact.exact(query, found.rows).tolist()
        assert sorted(found.scores.tolist(), reverse=True) == found.scores.tolist()


def test_it_reads_fewer_lists_than_there_are(tmp_path: Path) -> None:
    _, path = build(tmp_path, clustered())
    facts = ArrayFolder(path).facts
    assert facts["probes"] < facts["lists"] / 2
    assert facts["recall"] >= approximate.TARGET_RECALL


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1])
def test_where_a_filter_leaves_little_search_is_exact(
    indexes: tuple[DenseIndex, ApproximateIndex], share: float
) -> None:
    exact, index = indexes
    allowed = np.random.default_rng(4).random(COUNT) < share
    for query in queries(3):
        assert index.top(query, 20, allowed).rows.tolist() == (
            exact.top(query, 20, allowed).rows.tolist()
        )


def test_a_leg_is_short_only_when_there_is_nothing_more(
    indexes: tuple[DenseIndex, ApproximateIndex],
) -> None:
    for depth in (1, 100, 700, COUNT, COUNT + 5):
        assert len(indexes[1].top(queries(1)[0], depth, None).rows) == min(depth, COUNT)


def test_a_corpus_without_neighbourhoods_is_searched_exactly(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).standard_normal((2000, 256)).astype(np.float32)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    exact, path = build(tmp_path, noise)
    assert ArrayFolder(path).facts["probes"] is None
    index = ApproximateIndex(ArrayFolder(path), exact)
    asked = np.random.default_rng(1).standard_normal(256).astype(np.float32)
    assert index.top(asked, 10, None).rows.tolist() == exact.top(asked, 10, None).rows.tolist()


@pytest.mark.parametrize("count", [1, 2, 45])
def test_a_tiny_corpus_works(tmp_path: Path, count: int) -> None:
    exact, path = build(tmp_path, clustered()[:count])
    index = ApproximateIndex(ArrayFolder(path), exact)
    assert index.top(queries(1)[0], 3, None).rows.tolist() == (
        exact.top(queries(1)[0], 3, None).rows.tolist()
    )


def test_the_same_vectors_give_the_same_file(tmp_path: Path) -> None:
    files = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        folder = build(tmp_path / name, clustered())[1]
        files.append([(folder / array).read_bytes() for array in ("rows", "codes", "centroids")])
    assert files[0] == files[1]


def test_searching_needs_no_faiss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exact, path = build(tmp_path, clustered())
    expected = ApproximateIndex(ArrayFolder(path), exact).top(queries(1)[0], 5, None)
    monkeypatch.setitem(sys.modules, "faiss", None)
    found = ApproximateIndex(ArrayFolder(path), exact).top(queries(1)[0], 5, None)
    assert found.rows.tolist() == expected.rows.tolist()


def test_without_faiss_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    assert not approximate.available()
    with pytest.raises(MissingExtraError, match=r"laya-rag\[approximate\]"):
        approximate.require()
