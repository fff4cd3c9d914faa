"""Folding: what differs only in dress becomes equal, and every character knows its origin."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval.verify.fold import fold


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Revenue GREW", "revenue grew"),
        ("a\n  b\tc", "a b c"),
        ("a\u00a0b", "a b"),
        ("“it” ‘is’ „so“ «x» ‹y›", '"it" \'is\' "so" "x" \'y\''),
        ("he said “a ‘b’ c”", "he said 'a \"b\" c'"),  # nesting turns the marks around
        ("« texte »", '"texte"'),
        ("Straße", "STRASSE"),
        ("café", "cafe\u0301"),
        ("ﬁne", "fine"),
        ("Ｆｕｌｌ", "full"),
        ("soft\u00adhyphen", "softhyphen"),
        ("zero\u200bwidth", "zerowidth"),
        ("한국", unicodedata.normalize("NFD", "한국")),
    ],
)
def test_equal_after_folding(left, right):
    assert fold(left).text == fold(right).text


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("10²", "102"),
        ("3½", "31/2"),
        ("①", "1"),
        ("resume", "résumé"),
        ("a-b", "ab"),
        ('5"', "5'"),  # inches and feet
        ("not so", "notso"),
    ],
)
def test_different_after_folding(left, right):
    assert fold(left).text != fold(right).text


def _may_vanish(text, place):
    """Invisible characters and blanks beside guillemets fold to nothing."""
    return text[place].isspace() or unicodedata.category(text[place]) == "Cf"


@given(st.text(max_size=40) | st.text("aÉé\u0301ﬁß “”«» \n\u200b한ᄒ\u1161", max_size=40))
def test_origins_cover_the_text_in_order(text):
    folded = fold(text)
    assert len(folded.starts) == len(folded.ends) == len(folded.text)
    assert list(folded.starts) == sorted(folded.starts)
    for start, end in zip(folded.starts, folded.ends, strict=True):
        assert 0 <= start < end <= len(text)
    assert set(range(len(text))) == {
        place
        for start, end in zip(folded.starts, folded.ends, strict=True)
        for place in range(start, end)
    } | {place for place in range(len(text)) if _may_vanish(text, place)}


@given(st.text(max_size=30))
def test_folding_is_idempotent_but_for_marks_after_digits(text):
    once = fold(text).text
    assert fold(once).text.replace('"', "'") == once.replace('"', "'")


def test_a_find_is_a_span_of_the_unfolded_text():
    text = "He  said: “REVENUE\u00a0grew”. Revenue grew again."
    assert [span.of(text) for span in fold(text).find_all("revenue grew")] == [
        "REVENUE\u00a0grew",
        "Revenue grew",
    ]


def test_a_find_is_whole_words():
    assert list(fold("concatenate").find_all("cat")) == []
    assert len(list(fold("cat, cat-like").find_all("cat"))) == 2
    assert len(list(fold("公司收入增长").find_all("收入"))) == 1
    assert list(fold("x").find_all("")) == []
