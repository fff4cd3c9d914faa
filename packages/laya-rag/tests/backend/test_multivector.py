from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from laya_index.signal.multivector import MultiVectorSignal
from laya_rag.backend.arrays import ArrayFolder, ArrayWriter
from laya_rag.backend.dense import DenseIndex
from laya_rag.backend.multivector import MultiVectorIndex, TokenVectors, write_tokens
from laya_retrieval.process.maxsim import maxsim
from laya_signals.fde import MuveraFde
from laya_signals.multivector import HashingMultiVectorEncoder
from numpy.typing import NDArray

DIMENSION = 16
COUNT = 300
FDE = MuveraFde(repetitions=8, k_sim=3, projection=8)


def documents() -> list[NDArray[np.float32]]:
    generator = np.random.default_rng(5)
    counts = generator.integers(0, 6, COUNT)
    return [generator.standard_normal((n, DIMENSION)).astype(np.float32) for n in counts]


def arrays(vectors: list[NDArray[np.float32]], batch: int = 32) -> ArrayFolder:
    signal = MultiVectorSignal(HashingMultiVectorEncoder(dimension=DIMENSION))
    table = signal.sidecar([f"r{n}" for n in range(len(vectors))], vectors)

    def batches() -> Iterator[pa.RecordBatch]:
        return iter(table.to_batches(batch))

    encodings = np.array([FDE.encode_document(v) for v in vectors])
    with tempfile.TemporaryDirectory() as folder:
        writer = ArrayWriter(Path(folder))
        write_tokens(writer, batches, DIMENSION)
        writer.put("fde", encodings)
        norm = float(np.linalg.norm(encodings.astype(np.float64), axis=1).max())
        writer.finish({"norms": {"fde": norm}})
        return ArrayFolder(Path(folder))


@pytest.fixture(scope="module")
def vectors() -> list[NDArray[np.float32]]:
    return documents()


@pytest.fixture(scope="module")
def parts(vectors: list[NDArray[np.float32]]) -> tuple[TokenVectors, DenseIndex]:
    places = np.arange(COUNT, dtype=np.uint32)
    made = arrays(vectors)
    return TokenVectors(made, places), DenseIndex(made, "fde", places)


def query(seed: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((3, DIMENSION)).astype(np.float32)


def exact(
    vectors: list[NDArray[np.float32]], asked: NDArray[np.float32], rows: list[int], depth: int
) -> list[tuple[int, float]]:
    scored = [(row, maxsim(asked, vectors[row])) for row in rows if len(vectors[row])]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:depth]


@pytest.mark.parametrize("share", [None, 0.3])
def test_without_encodings_every_passage_is_compared(
    vectors: list[NDArray[np.float32]],
    parts: tuple[TokenVectors, DenseIndex],
    share: float | None,
) -> None:
    allowed = None if share is None else np.random.default_rng(0).random(COUNT) < share
    rows = list(range(COUNT)) if allowed is None else np.flatnonzero(allowed).tolist()
    found = MultiVectorIndex(COUNT, parts[0], None).top(query(1), None, 12, allowed)
    assert list(zip(found.rows.tolist(), found.scores.tolist(), strict=True)) == exact(
        vectors, query(1), rows, 12
    )


def test_encodings_propose_and_maxsim_decides(
    vectors: list[NDArray[np.float32]], parts: tuple[TokenVectors, DenseIndex]
) -> None:
    both = MultiVectorIndex(COUNT, *parts)
    for seed in range(5):
        asked = query(seed)
        proposed = parts[1].top(FDE.encode_query(asked), 40, None).rows.tolist()
        found = both.top(asked, FDE, 10, None)
        assert list(zip(found.rows.tolist(), found.scores.tolist(), strict=True)) == exact(
            vectors, asked, proposed, 10
        )


def test_encodings_alone_decide_by_their_dot_product(
    parts: tuple[TokenVectors, DenseIndex],
) -> None:
    found = MultiVectorIndex(COUNT, None, parts[1]).top(query(3), FDE, 7, None)
    wanted = parts[1].top(FDE.encode_query(query(3)), 7, None)
    assert found.rows.tolist() == wanted.rows.tolist()
    assert found.scores.tolist() == wanted.scores.tolist()
