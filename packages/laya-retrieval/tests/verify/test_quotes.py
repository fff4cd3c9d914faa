"""Quotes: every style is found, apostrophes are not, and a look-up is a fold, not a guess."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval.verify.fold import fold
from laya_retrieval.verify.quotes import find_quotes, look_up_quote


def quotes(text):
    return [span.of(text) for span in find_quotes(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('He said "it rose" today.', ["it rose"]),
        ("He said “it rose” today.", ["it rose"]),
        ("He said ‘it rose’ today.", ["it rose"]),
        ("He said 'it rose' today.", ["it rose"]),
        ("Er sagte „es stieg“ heute.", ["es stieg"]),
        ("Er sagte „es stieg” heute.", ["es stieg"]),
        ("Er sagte »es stieg« heute.", ["es stieg"]),
        ("Il dit « il monte » ici.", ["il monte"]),
        ("Il dit «il monte» ici.", ["il monte"]),
        ("Hän sanoi ”se nousi” tänään.", ["se nousi"]),
        ("‚so‘ und ‹so›", ["so", "so"]),
        ("彼は「はい」と『本』と言った。", ["はい", "本"]),
        ('他说"好"。', ["好"]),
        ("“outer ‘inner’ outer”", ["outer ‘inner’ outer"]),
        ("「外「内」外」", ["外「内」外"]),
        ('"one" and "two"', ["one", "two"]),
        ('("in brackets")', ["in brackets"]),
        ('It "rose."', ["rose."]),
        ('"… it rose …" and "[...] it fell"', ["it rose", "it fell"]),
        ("‘don’t stop’ he said", ["don’t stop"]),
    ],
)
def test_quotes_of_every_style(text, found):
    assert quotes(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "don't, can't, the dogs' owners' house",
        "don’t, can’t, the dogs’ owners’ house",
        "rock 'n' roll in the '90s and '80s",
        "'tis the season, get 'em",
        'a 5" screen and a 6" one',
        "5' 10\" tall",
        'an "unclosed quote',
        'a closing" mark',
        '"" and " " and "…"',
        'one "paragraph\n\nand" another',
        "»",
        "",
    ],
)
def test_what_is_no_quote(text):
    assert quotes(text) == []


PASSAGE = "The chair said: “Revenue   grew by a\ntenth, we’re glad”. It's a 5\" screen."


def places(quote, passage=PASSAGE):
    return [span.of(passage) for span in look_up_quote(fold(quote), fold(passage))]


@pytest.mark.parametrize(
    ("quote", "place"),
    [
        ("revenue grew by a tenth", "Revenue   grew by a\ntenth"),
        ("we're glad", "we’re glad"),
        ("WE’RE GLAD", "we’re glad"),
        ("grew by a tenth,", "grew by a\ntenth,"),
        ("revenue grew,", "Revenue   grew"),  # American typography puts its comma inside
        ("we're glad.", "we’re glad"),
        ('5" screen', '5" screen'),
    ],
)
def test_a_quote_is_found_after_folding(quote, place):
    assert places(quote) == [place]


@pytest.mark.parametrize(
    "quote",
    [
        "revenue grew by tenth",  # a word left out
        "revenues grew by a tenth",
        "revenue grew by a ten",  # cut inside a word
        "revenue ... tenth",  # an elision is looked up as written
        "5' screen",
    ],
)
def test_nothing_is_found_by_likeness(quote):
    assert places(quote) == []


def test_every_occurrence_is_reported():
    assert places("tax", "Tax, tax and syntax.") == ["Tax", "tax"]


@given(st.text("ab \"'“”„«»‘’「」.\n1", max_size=40))
def test_spans_are_ordered_trimmed_and_between_marks(text):
    end = 0
    for span in find_quotes(text):
        assert end < span.start < span.end < len(text)
        assert span.of(text) == span.of(text).strip()
        end = span.end


@given(st.text("aé ﬁ“x1", min_size=1, max_size=20), st.text("ab ", max_size=5))
def test_a_whole_text_is_found_in_itself(text, around):
    found = look_up_quote(fold(text), fold(f"{around} {text} {around}"))
    assert found or not fold(text).text.strip()


@pytest.mark.parametrize("unit", ['"a', "“", "'a ", "«", "「", ' "'])
def test_unbalanced_marks_do_not_take_forever(unit):
    started = time.perf_counter()
    find_quotes(unit * 3_000)
    assert time.perf_counter() - started < 10
