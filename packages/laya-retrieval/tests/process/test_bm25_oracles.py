"""BM25 against bm25s and rank_bm25."""

import random

import numpy as np
import pytest
from laya_retrieval import Bm25Rescorer, Candidate
from laya_signals.bm25 import inverse_document_frequency
from laya_signals.tokenize.whitespace import WhitespaceTokenizer

pytestmark = pytest.mark.slow


def pool(seed):
    generator = random.Random(seed)
    words = [f"w{int(generator.paretovariate(0.6)) % 60}" for _ in range(400)]
    return [generator.choices(words, k=generator.randint(3, 40)) for _ in range(50)]


def ours(documents, query):
    candidates = [Candidate(f"{i:03}", 0.0, " ".join(words)) for i, words in enumerate(documents)]
    scored = Bm25Rescorer(tokenizer=WhitespaceTokenizer()).process(" ".join(query), candidates)
    return np.array([c.score for c in sorted(scored, key=lambda c: c.id)])


@pytest.mark.parametrize("seed", range(5))
def test_scores_equal_bm25s(seed):
    bm25s = pytest.importorskip("bm25s", reason="needs the dependency group `oracles`")
    documents = pool(seed)
    query = documents[0][:4]
    # bm25s's "robertson" clips idf at 0, "lucene" is ours without the constant factor k1 + 1.
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75, dtype="float64")
    index.index(documents, show_progress=False)
    theirs = index.get_scores(list(query))
    assert ours(documents, query) == pytest.approx(np.asarray(theirs) * 2.5, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_scores_equal_rank_bm25_with_our_idf(seed):
    rank_bm25 = pytest.importorskip("rank_bm25", reason="needs the dependency group `oracles`")
    documents = pool(seed)
    query = documents[3][:4]
    index = rank_bm25.BM25Okapi(documents, k1=1.5, b=0.75)
    # rank_bm25's own idf turns negative for a term in more than half of all documents.
    for term in index.idf:
        df = sum(term in words for words in documents)
        index.idf[term] = float(inverse_document_frequency(df, len(documents)))
    assert ours(documents, query) == pytest.approx(index.get_scores(query), rel=1e-9)
