"""Numbers: read by value, in several notations, without ever inventing a reading."""

import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval.verify.numbers import agreement, find_numbers


def only(text):
    (number,) = find_numbers(text)
    return number


def values(text):
    return [[str(value.normalize() + 0) for value in n.readings] for n in find_numbers(text)]


def agree(left, right):
    return agreement(only(left), only(right))


THOUSANDS = [
    "1200",
    "1200.0",
    "1,200.00",
    "$1,200.00",
    "US$1,200.00",
    "1.200,00 €",
    "EUR 1.200,00",
    "1 200",
    "1\u00a0200",
    "1\u202f200,00",
    "1'200",
    "1’200.00",
    "1.2e3",
    "1.2 × 10³",
    "1.2 thousand",
    "1.2k",
    "0.12万",
    "１２００",
    "١٬٢٠٠",
    "+1200",
]


@pytest.mark.parametrize("left", THOUSANDS)
@pytest.mark.parametrize("right", ["1200", "$1,200.00"])
def test_one_value_in_many_notations(left, right):
    assert agree(left, right) == "sure"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1 234 567", "1234567"),
        ("1,234,567", "1.234.567"),
        ("12,34,567", "1234567"),  # Indian grouping
        ("1,23,456.50", "123456,5"),
        ("3,14", "3.14"),
        ("0,123", "0.123"),
        (".5", "0.50"),
        ("5 million", "5.000.000"),
        ("$5M", "5000000"),
        ("2,5 Mrd", "2.5 billion"),
        ("3 lakh", "3,00,000"),
        ("1.2亿", "120,000,000"),
        ("12%", "12 percent"),
        ("12 %", "12,0 Prozent"),
        ("-5", "−5.0"),
        ("−$5", "-5"),
        ("5kg", "5 kg"),
        ("3rd", "3"),
        ("1,234", "1234"),
        ("1,234", "1,234"),
        ("2023-05-01", "2023/5/1"),
        ("v1.2.3", "1.2.3"),
    ],
)
def test_equal_for_sure(left, right):
    assert agree(left, right) == agree(right, left) == "sure"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1,234", "1.234"),  # a thousandfold apart if the two texts write alike
        ("5M", "5,000,000"),  # metres, or million
        ("(1,200.0)", "-1200"),  # a bookkeeper's minus, or brackets
        ("–7", "-7"),  # an en dash
        ("1 Billion", "1,000,000,000,000"),  # a German Billion
    ],
)
def test_equal_only_by_a_guess(left, right):
    assert agree(left, right) == agree(right, left) == "doubtful"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1200", "1201"),
        ("1,234.5", "1.234"),
        ("12%", "12"),
        ("12%", "0.12"),  # no arithmetic
        ("12%", "12 percentage points"),
        ("5 million", "5"),
        ("1.23 million", "1,234,567"),  # no rounding
        ("1990s", "1990"),
        ("1.2.3", "1.2.4"),
        ("3/4", "0.75"),
        ("2023-05-01", "2023-05-02"),
        ("12:30", "12:31"),
    ],
)
def test_not_equal(left, right):
    assert agree(left, right) == agree(right, left) == "none"


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("1,234", [["1234", "1.234"]]),
        ("1.234", [["1234", "1.234"]]),
        ("1,234 and 3.5", [["1234"], ["3.5"]]),
        ("1,234 und 3,5", [["1.234"], ["3.5"]]),
        ("1,234 of 1,234,567", [["1234"], ["1234567"]]),
        ("1,234 and 3.5 and 3,5", [["1234", "1.234"], ["3.5"], ["3.5"]]),  # no habit to go by
        ("1234,567", [["1234.567"]]),
        ("1,2,3", [["1"], ["2"], ["3"]]),
        ("1.5,2.5", [["1.5"], ["2.5"]]),
        ("2020 123 people", [["2020"], ["123"]]),
        ("5-10%", [["5"], ["10"]]),
        ("2–3 million", [["2000000"], ["3000000"]]),
        ("500 to 2 million", [["500"], ["2000000"]]),
        ("rose 12.5 percent to 1.2bn", [["12.5"], ["1200000000"]]),
        ("2019–2020", [["2019"], ["2020"]]),
        ("It was 1,200.", [["1200", "1.2"]]),
        ("3万5000", [[]]),  # written in two steps: not read
        ("192.168.0.1", [[]]),
        ("9" * 70, [[]]),
        ("共3万元", [["30000"]]),
        ("第5章", [["5"]]),
        ("mid-2020 and 5-year", [["2020"], ["5"]]),
    ],
)
def test_readings(text, readings):
    assert values(text) == readings


@pytest.mark.parametrize(
    "text",
    [
        "COVID-19, A4, B2B, sha256, GPT-4, H1N1, x_1, 10-K, 3D2",
        "[1], [2-4] and 【5】",
        "1. First\n2. second\n- 3) third",
        "https://example.com/2023/05?id=7",
        "no number at all",
        "",
    ],
)
def test_what_is_no_number(text):
    assert find_numbers(text) == []


def test_the_first_of_a_range_has_the_unit_of_the_second():
    assert [number.unit for number in find_numbers("5–10 % or 5 to 6 percent")] == ["%"] * 4
    assert [number.unit for number in find_numbers("300 to 5 %, 4 € to 5 %")] == ["", "%"] * 2


def test_a_spaced_group_of_two_keeps_the_two_numbers_that_it_may_be():
    assert [part.text for part in only("chapter 12 345").parts] == ["12", "345"]
    assert only("12\u202f345").parts == ()


def test_spans_hold_sign_currency_scale_and_unit():
    text = "It lost −$1.5 million, or 12 %."
    assert [number.span.of(text) for number in find_numbers(text)] == ["−$1.5 million", "12 %"]
    assert [number.text for number in find_numbers(text)] == ["−$1.5 million", "12 %"]


def test_scaling_is_exact_beyond_the_decimal_context():
    digits = "1." + "1" * 40
    assert only(f"{digits} million").readings == (Decimal("1111111." + "1" * 34),)


@given(st.text("0123456789.,' -–%$()kM[]/:e万\u202f\n٣a", max_size=30))
def test_numbers_are_verbatim_ordered_and_agree_with_themselves(text):
    end = 0
    for number in find_numbers(text):
        assert end <= number.span.start < number.span.end <= len(text)
        assert number.text == number.span.of(text)
        assert any(character.isdigit() for character in number.text)
        end = number.span.end
        if number.readings or number.kind != "number":
            assert agreement(number, number) == "sure"


@given(st.integers(0, 10**12), st.integers(0, 99))
def test_the_same_value_in_four_notations(whole, cents):
    english = f"{whole:,}.{cents:02}"
    german = english.replace(",", "x").replace(".", ",").replace("x", ".")
    for other in (german, f"{whole}.{cents:02}", english.replace(",", "\u202f")):
        assert agree(english, other) == "sure"


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_different_integers_never_agree(one, other):
    assert (agree(str(one), str(other)) == "sure") == (one == other)


@pytest.mark.parametrize("unit", ["1,", "1 ", "1.", "1 234 ", "9", "1-", "1/"])
def test_time_grows_with_length_and_not_with_its_square(unit):
    started = time.perf_counter()
    find_numbers(unit * (20_000 // len(unit)))
    assert time.perf_counter() - started < 5
