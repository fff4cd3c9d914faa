from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laya_index.bundle.schema import sparse_fields
from laya_rag.backend.arrays import ArrayFolder, ArrayWriter
from laya_rag.backend.sparse import SparseIndex, write_sparse
from laya_signals.sparse.vector import SparseVector

weights = st.sampled_from([0.5, 1.0, -1.0, 3.25])
vectors = st.dictionaries(st.sampled_from([0, 1, 5, 2**31, 2**40]), weights, max_size=4)


def index(documents: list[SparseVector], *, batch: int = 3) -> SparseIndex:
    table = pa.table(
        [[v.indices.tolist() for v in documents], [v.values.tolist() for v in documents]],
        schema=pa.schema(sparse_fields(1 << 41)),
    )

    def batches() -> Iterator[pa.RecordBatch]:
        return iter(table.to_batches(batch))

    with tempfile.TemporaryDirectory() as folder:
        writer = ArrayWriter(Path(folder))
        write_sparse(writer, batches)
        writer.finish({})
        return SparseIndex(ArrayFolder(Path(folder)), len(documents))


@settings(deadline=None)
@given(st.lists(vectors, max_size=10), vectors)
def test_scores_are_dot_products(
    documents: list[dict[int, float]], asked: dict[int, float]
) -> None:
    rows = [SparseVector.from_mapping(document) for document in documents]
    query = SparseVector.from_mapping(asked)
    scores, touched = index(rows).scores(query)
    assert scores.tolist() == pytest.approx([row.dot(query) for row in rows])
    assert touched.tolist() == [bool(row.keys() & asked.keys()) for row in documents]


def test_a_corpus_without_a_single_index_works() -> None:
    empty = SparseVector.from_mapping({})
    scores, touched = index([empty, empty]).scores(SparseVector.from_mapping({3: 1.0}))
    assert not scores.any()
    assert not touched.any()


def test_batches_of_any_size_give_the_same_index() -> None:
    generator = np.random.default_rng(0)
    documents = [
        SparseVector.from_mapping(dict.fromkeys(generator.integers(0, 50, 8).tolist(), 1.0))
        for _ in range(7)
    ]
    query = SparseVector.from_mapping(dict.fromkeys(range(50), 1.0))
    one, many = (index(documents, batch=size).scores(query)[0].tolist() for size in (1, 100))
    assert one == many
