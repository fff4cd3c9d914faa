from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laya_index.bundle.schema import POSTING_COLUMNS
from laya_rag.backend.arrays import ArrayFolder, ArrayWriter
from laya_rag.backend.lexical import LexicalIndex, Weighting, write_lexical
from laya_rag.backend.scope import Scope

DOCUMENTS = [["a", "b", "a"], ["b"], [], ["c", "c", "c", "c"]]
K1, B = 1.2, 0.75

corpora = st.lists(st.lists(st.sampled_from("abcde"), max_size=6), max_size=8)
queries = st.lists(st.sampled_from("abcdef"), max_size=5)


def index(documents: list[list[str]], *, batch: int = 2) -> LexicalIndex:
    terms = sorted({term for document in documents for term in document})
    rows = [[n for n, document in enumerate(documents) if term in document] for term in terms]
    counts = [
        [documents[n].count(term) for n in row] for term, row in zip(terms, rows, strict=True)
    ]
    postings = pa.table([terms, rows, counts], schema=POSTING_COLUMNS)

    def batches(*columns: str) -> Iterator[pa.RecordBatch]:
        return iter(postings.select(columns).to_batches(batch))

    weighting = Weighting(K1, {"": (1.0, B)})
    with tempfile.TemporaryDirectory() as folder:
        writer = ArrayWriter(Path(folder))
        write_lexical(writer, batches, len(documents), weighting)
        writer.finish({})
        return LexicalIndex(ArrayFolder(Path(folder)), weighting)


def scores(built: LexicalIndex, query: list[str], mask: list[bool] | None = None) -> list[float]:
    count = len(built.lengths[""])
    permitted = np.ones(count, bool) if mask is None else np.array(mask, bool)
    found: list[float] = built.scores(query, Scope.of(permitted, built.lengths)).tolist()
    return found


def expected(query: list[str], document: list[str]) -> float:
    total = 0.0
    for term in query:
        frequency = document.count(term)
        df = sum(term in other for other in DOCUMENTS)
        if frequency:
            idf = math.log(1 + (len(DOCUMENTS) - df + 0.5) / (df + 0.5))
            norm = K1 * (1 - B + B * len(document) / 2.0)
            total += idf * frequency * (K1 + 1) / (frequency + norm)
    return total


@pytest.mark.parametrize("query", [["a"], ["a", "b"], ["b", "b"], ["c", "unknown"], []])
def test_scores_follow_the_formula(query: list[str]) -> None:
    wanted = [expected(query, document) for document in DOCUMENTS]
    assert scores(index(DOCUMENTS), query) == pytest.approx(wanted, rel=1e-6)


def test_the_order_of_query_terms_does_not_matter() -> None:
    built = index(DOCUMENTS)
    assert scores(built, ["a", "b", "c"]) == scores(built, ["c", "a", "b"])


@settings(deadline=None)
@given(corpora, queries, st.data())
def test_a_scope_scores_as_an_index_of_its_documents_alone(
    documents: list[list[str]], query: list[str], data: st.DataObject
) -> None:
    mask = data.draw(st.lists(st.booleans(), min_size=len(documents), max_size=len(documents)))
    permitted = [d for d, keep in zip(documents, mask, strict=True) if keep]
    found = scores(index(documents), query, mask)
    assert [s for s, keep in zip(found, mask, strict=True) if keep] == scores(
        index(permitted), query
    )
    assert all(s == 0 for s, keep in zip(found, mask, strict=True) if not keep)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_scores_equal_bm25s(seed: int) -> None:
    bm25s = pytest.importorskip("bm25s", reason="needs the dependency group `oracles`")
    generator = np.random.default_rng(seed)
    documents = [
        [f"w{word}" for word in generator.zipf(1.4, generator.integers(1, 60)) % 500]
        for _ in range(300)
    ]
    # bm25s's "lucene" is ours without the constant factor k1 + 1.
    oracle = bm25s.BM25(method="lucene", k1=K1, b=B, dtype="float64")
    oracle.index(documents, show_progress=False)
    built = index(documents, batch=64)
    for _ in range(20):
        query = [f"w{word}" for word in generator.zipf(1.4, 4) % 500]
        known = [term for term in query if term in oracle.vocab_dict]
        wanted = (oracle.get_scores(known) if known else np.zeros(300)) * (K1 + 1)
        assert scores(built, query) == pytest.approx(wanted.tolist(), abs=1e-5)
