import pytest
from laya_index.chunk.boundary import character_cut, sentence_starts, skip_blank, word_starts


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", []),
        ("One. Two", ["Two"]),
        ('"One." (Two!) Three', ["(Two!) Three", "Three"]),
        ("3.14 is e.g.\u00a0one", ["one"]),
        ("line\n\n   - item", ["- item"]),
        ("文書。」「次」", ["「次」"]),
        ("文！ 次？。末", ["次？。末", "。末", "末"]),
        ("end. \u0301x", []),  # the mark belongs to the blank
        ("end.  ", []),
    ],
)
def test_sentences_begin_after_end_marks_and_line_breaks(text: str, starts: list[str]) -> None:
    assert [text[place:] for place in sentence_starts(text)] == starts


def test_words_begin_after_blanks_in_the_range() -> None:
    assert word_starts("a b\u3000c  d", 2, 5) == [2, 4]
    assert word_starts("a b\u3000c  d", 0, 99) == [2, 4, 7]


@pytest.mark.parametrize(
    ("least", "limit", "most", "expected"),
    [(1, 2, 2, 1), (2, 4, 4, 3), (4, 5, 5, 5), (4, 5, 9, 8)],
)
def test_a_character_is_cut_only_beyond_the_limit(
    least: int, limit: int, most: int, expected: int
) -> None:
    text = "ae\u0301" + "👩‍👩‍👧"  # ends at 1, 3 and 8
    assert character_cut(text, least, limit, most) == expected


def test_blanks_are_skipped_up_to_the_end() -> None:
    assert [skip_blank("a \u2028b ", place) for place in range(6)] == [0, 3, 3, 3, 5, 5]
