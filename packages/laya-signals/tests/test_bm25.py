import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_signals.bm25 import (
    FieldFrequencies,
    field_saturation,
    inverse_document_frequency,
    saturation,
)


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


WEIGHTS = st.floats(0.1, 50)
SHARES = st.floats(0, 1)
K1 = st.floats(0, 5)


@st.composite
def fields(draw: st.DrawFn, *, least: int = 1, most: int = 3) -> list[FieldFrequencies]:
    """Frequencies and lengths of a term in the fields of the same few documents."""
    documents = draw(st.integers(1, 6))
    made = []
    for _ in range(draw(st.integers(least, most))):
        frequencies = draw(st.lists(st.integers(0, 9), min_size=documents, max_size=documents))
        lengths = [count + draw(st.integers(0, 40)) for count in frequencies]
        average = sum(lengths) / documents
        made.append(FieldFrequencies(frequencies, lengths, average, draw(WEIGHTS), draw(SHARES)))
    return made


def plain_bm25f(items: list[FieldFrequencies], document: int, k1: float) -> float:
    """As the paper writes it, with nothing but Python's own numbers."""
    total = 0.0
    for item in items:
        if item.frequencies[document] == 0:
            continue
        relative = item.lengths[document] / item.average_length
        total += item.weight * item.frequencies[document] / (1 - item.b + item.b * relative)
    return total * (k1 + 1) / (total + k1) if total else 0.0


@given(fields(), K1)
def test_fields_are_weighted_and_normalised_each_before_they_saturate_together(
    items: list[FieldFrequencies], k1: float
) -> None:
    weights = field_saturation(items, k1=k1)
    expected = [plain_bm25f(items, n, k1) for n in range(len(weights))]
    assert weights.tolist() == pytest.approx(expected)


@given(fields(most=1), K1)
def test_one_field_of_weight_one_is_bm25_to_the_bit(
    items: list[FieldFrequencies], k1: float
) -> None:
    [item] = items
    plain = saturation(item.frequencies, item.lengths, item.average_length, k1=k1, b=item.b)
    assert field_saturation([item._replace(weight=1.0)], k1=k1).tolist() == plain.tolist()


@given(fields(most=1), fields(most=1), K1)
def test_a_field_without_the_term_adds_nothing(
    one: list[FieldFrequencies], other: list[FieldFrequencies], k1: float
) -> None:
    count = len(one[0].frequencies)
    silent = other[0]._replace(
        frequencies=[0] * count, lengths=[0] * count, average_length=0.0, b=1.0
    )
    alone = field_saturation(one, k1=k1).tolist()
    assert field_saturation([*one, silent], k1=k1).tolist() == alone
    assert field_saturation([silent, *one], k1=k1).tolist() == pytest.approx(alone)


def test_a_term_in_two_fields_is_not_two_terms() -> None:
    title = FieldFrequencies([1], [4], 4.0, 1.0, 0.75)
    together = float(field_saturation([title, title], k1=1.2)[0])
    alone = float(field_saturation([title], k1=1.2)[0])
    assert alone < together < 2 * alone
    assert together == pytest.approx(float(saturation(2, 4, 4.0, k1=1.2, b=0.75)))


def test_bm25f_without_a_field_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one field"):
        field_saturation([], k1=1.2)
