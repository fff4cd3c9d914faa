from __future__ import annotations

import math

import pyarrow as pa
import pytest
from laya_index.bundle.schema import POSTING_COLUMNS, TERM_COLUMNS
from laya_rag.backend.lexical import LexicalIndex

DOCUMENTS = [["a", "b", "a"], ["b"], [], ["c", "c", "c", "c"]]
K1, B = 1.2, 0.75


def index() -> LexicalIndex:
    terms = sorted({term for document in DOCUMENTS for term in document})
    rows = [[n for n, document in enumerate(DOCUMENTS) if term in document] for term in terms]
    counts = [
        [DOCUMENTS[n].count(term) for n in row] for term, row in zip(terms, rows, strict=True)
    ]
    idf = [math.log(1 + (len(DOCUMENTS) - len(r) + 0.5) / (len(r) + 0.5)) for r in rows]
    return LexicalIndex(
        pa.table(
            [terms, [len(r) for r in rows], [sum(c) for c in counts], idf], schema=TERM_COLUMNS
        ),
        pa.table([terms, rows, counts], schema=POSTING_COLUMNS),
        len(DOCUMENTS),
        average_length=2.0,
        k1=K1,
        b=B,
    )


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
    assert index().scores(query).tolist() == pytest.approx(wanted)


def test_the_order_of_query_terms_does_not_matter() -> None:
    assert index().scores(["a", "b", "c"]).tolist() == index().scores(["c", "a", "b"]).tolist()
