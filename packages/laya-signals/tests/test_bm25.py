import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_signals.bm25 import inverse_document_frequency, saturation


@given(st.integers(0, 10**9), st.data())
def test_idf_follows_its_formula_and_is_never_negative(count: int, data: st.DataObject) -> None:
    frequency = data.draw(st.integers(0, count))
    idf = float(inverse_document_frequency(frequency, count))
    assert idf == pytest.approx(math.log(1 + (count - frequency + 0.5) / (frequency + 0.5)))
    assert idf > 0


def test_idf_falls_as_a_term_gets_commoner() -> None:
    assert (np.diff(inverse_document_frequency(np.arange(101), 100)) < 0).all()


@pytest.mark.parametrize("frequency", [[11], [-1], [0, 3, 11]])
def test_an_impossible_document_frequency_is_refused(frequency: list[int]) -> None:
    with pytest.raises(ValueError, match=r"0\.\.10"):
        inverse_document_frequency(frequency, 10)


def test_an_empty_corpus_has_no_weights() -> None:
    assert inverse_document_frequency([], 0).shape == (0,)


@given(
    st.integers(1, 1000),
    st.integers(1, 1000),
    st.floats(0.1, 1000),
    st.floats(0, 5),
    st.floats(0, 1),
)
def test_saturation_follows_its_formula(
    frequency: int, length: int, average: float, k1: float, b: float
) -> None:
    weight = float(saturation(frequency, length, average, k1=k1, b=b))
    norm = k1 * (1 - b + b * length / average)
    assert weight == pytest.approx(frequency * (k1 + 1) / (frequency + norm))
    assert 0 < weight <= (k1 + 1) * (1 + 1e-12)


def test_a_term_that_is_not_there_weighs_nothing() -> None:
    assert saturation([0, 0], [0, 7], 3.5, k1=1.2, b=0.75).tolist() == [0.0, 0.0]
    assert saturation([0], [5], 3.5, k1=0.0, b=0.75).tolist() == [0.0]


def test_a_corpus_without_terms_counts_every_length_as_average() -> None:
    assert float(saturation(1, 0, 0.0, k1=1.2, b=0.75)) == pytest.approx(1.0)


def test_arrays_broadcast() -> None:
    assert saturation(np.ones((3, 1)), np.ones(4), 1.0, k1=1.2, b=0.75).shape == (3, 4)
