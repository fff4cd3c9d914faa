"""Token vectors from hashes."""

import numpy as np
import pytest
from laya_signals.multivector import HashingMultiVectorEncoder, MultiVectorEncoder


def test_it_implements_the_seam():
    assert isinstance(HashingMultiVectorEncoder(), MultiVectorEncoder)


@pytest.mark.parametrize("dimension", [1, 7, 128, 129])
def test_one_unit_row_per_term_in_reading_order(dimension):
    encoder = HashingMultiVectorEncoder(dimension=dimension)
    vectors = encoder.encode_query("tax law tax")
    assert vectors.shape == (3, dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, rel=1e-5)
    assert np.array_equal(vectors[0], vectors[2])


def test_documents_and_queries_are_encoded_alike():
    encoder = HashingMultiVectorEncoder()
    one, empty = encoder.encode_documents(["tax law", ""])
    assert np.array_equal(one, encoder.encode_query("tax law"))
    assert empty.shape == (0, 128)


def test_different_terms_are_nearly_orthogonal():
    encoder = HashingMultiVectorEncoder(dimension=1024)
    vectors = encoder.encode_query(" ".join(f"term{i}" for i in range(50)))
    cosines = vectors @ vectors.T - np.eye(50)
    assert np.abs(cosines).max() < 0.2


def test_long_texts_are_cut():
    assert len(HashingMultiVectorEncoder(max_tokens=3).encode_query("a b c d e")) == 3
