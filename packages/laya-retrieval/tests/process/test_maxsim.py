"""Exact MaxSim."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from laya_retrieval import Candidate, MaxSimError, MaxSimReranker, maxsim
from laya_retrieval.testing import FakeMultiVectorEmbedder
from laya_signals import ConfigError

EMBEDDER = FakeMultiVectorEmbedder()


def of(key, vectors):
    return Candidate(key, 0.5, "", {"multivectors": vectors})


def test_the_passage_with_more_of_the_querys_tokens_wins():
    pool = [
        of("few", EMBEDDER.encode_query("lunch in the park").tolist()),
        of("many", EMBEDDER.encode_query("revenue tax filing")),
    ]
    scored = MaxSimReranker(embedder=EMBEDDER).process("revenue tax", pool)
    assert scored[0].id == "many"
    assert scored[0].score == pytest.approx(2.0, rel=1e-6)


matrices = st.integers(1, 5).flatmap(
    lambda n: arrays(np.float32, (n, 3), elements=st.floats(-2, 2, width=32))
)


@given(matrices, matrices)
def test_it_equals_the_formula(query, document):
    expected = sum(max(float(q @ d) for d in document.astype(float)) for q in query.astype(float))
    assert maxsim(query, document) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "vectors",
    [None, [], [[]], [[1.0, 2.0]], [1.0] * 16, [[1.0], [1.0, 2.0]], [[float("nan")] * 16], "x"],
)
def test_a_missing_or_mismatched_sidecar_is_an_error_that_names_the_candidate(vectors):
    with pytest.raises(MaxSimError, match="'bad'"):
        MaxSimReranker(embedder=EMBEDDER).process("revenue", [of("bad", vectors)])


def test_a_query_without_tokens_is_an_error():
    with pytest.raises(MaxSimError, match="query"):
        MaxSimReranker(embedder=EMBEDDER).process("", [of("a", EMBEDDER.encode_query("x"))])


def test_an_empty_list_stays_empty():
    assert MaxSimReranker(embedder=EMBEDDER).process("", []) == []


def test_an_embedder_is_needed():
    with pytest.raises(ConfigError, match="embedder="):
        MaxSimReranker()
