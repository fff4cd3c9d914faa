"""Spans of one document: overlaps are measured, and joined without repeating a character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import PackError
from laya_retrieval.process.overlap import join_spans, joinable, shared_characters, source_span

TEXT = "Revenue grew by a tenth. Tax fell by a half. Nothing else changed in the year."


def chunk(start, end, score=1.0, document="d", text=None, name=None):
    return Candidate(
        name or f"{document}#{start}-{end}",
        score,
        TEXT[start:end] if text is None else text,
        {"document_id": document, "start": start, "end": end},
    )


def test_overlapping_and_adjacent_spans_are_joined_verbatim():
    joined = join_spans([chunk(20, 44, 0.5), chunk(0, 24, 0.9), chunk(44, 60, 0.1)])
    assert len(joined) == 1
    assert joined[0].id == "d#0-24"
    assert joined[0].score == 0.9
    assert joined[0].text == TEXT[0:60]
    assert (joined[0].metadata["start"], joined[0].metadata["end"]) == (0, 60)
    assert joined[0].metadata["merged_ids"] == ("d#0-24", "d#20-44", "d#44-60")


def test_a_span_inside_another_adds_nothing():
    assert join_spans([chunk(0, 40), chunk(5, 10)])[0].text == TEXT[0:40]


@pytest.mark.parametrize(
    "other",
    [
        chunk(26, 40),  # a gap
        chunk(20, 40, document="e"),
        chunk(20, 44, text="Header: " + TEXT[20:44]),  # longer than its offsets say
        chunk(20, 44, text=TEXT[20:44].upper()),  # another text at the same place
        Candidate("x", 1.0, TEXT[20:44]),
    ],
)
def test_what_could_not_be_verbatim_is_not_joined(other):
    one = chunk(0, 24)
    assert not joinable(one, other)
    assert {candidate.text for candidate in join_spans([one, other])} == {one.text, other.text}


def test_shared_characters_count_only_within_one_document():
    spans = [
        source_span(candidate)
        for candidate in (chunk(0, 10), chunk(4, 20), chunk(4, 20, document="e"), chunk(10, 12))
    ]
    assert shared_characters([*spans, None]).tolist() == [
        [0, 6, 0, 0, 0],
        [6, 0, 0, 2, 0],
        [0, 0, 0, 0, 0],
        [0, 2, 0, 0, 0],
        [0, 0, 0, 0, 0],
    ]


@pytest.mark.parametrize(("start", "end"), [(5, 4), (-1, 3), (0, 2.5), ("0", 3), (True, 3)])
def test_an_impossible_span_is_an_error_that_names_the_candidate(start, end):
    with pytest.raises(PackError, match="'bad'"):
        source_span(Candidate("bad", 1.0, "x", {"document_id": "d", "start": start, "end": end}))


def test_without_all_three_keys_there_is_no_span():
    assert source_span(Candidate("a", 1.0, "x", {"document_id": "d", "start": 0})) is None


@given(st.lists(st.tuples(st.integers(0, 70), st.integers(1, 30)), max_size=8))
def test_every_joined_text_is_the_document_between_its_offsets(places):
    chunks = [
        chunk(start, min(start + size, len(TEXT)), name=str(i))
        for i, (start, size) in enumerate(places)
    ]
    joined = join_spans(chunks)
    covered = set()
    for candidate in joined:
        start, end = candidate.metadata["start"], candidate.metadata["end"]
        assert candidate.text == TEXT[start:end]
        assert covered.isdisjoint(range(start, end))
        covered.update(range(start, end))
    assert covered == {
        place for c in chunks for place in range(c.metadata["start"], c.metadata["end"])
    }
