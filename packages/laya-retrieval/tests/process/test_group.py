"""One entry per document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval import Candidate, PackError, group_by_document

TEXT = "abcdefghijklmnopqrstuvwxyz"


def span(start, end, score=1.0, document="d"):
    metadata = {"document_id": document, "start": start, "end": end}
    return Candidate(f"{document}#{start}-{end}", score, TEXT[start:end], metadata)


def test_a_document_stands_where_its_best_passage_stood():
    pool = [span(0, 3, 0.9, "x"), span(0, 3, 0.8, "y"), span(5, 8, 0.7, "x")]
    groups = group_by_document(pool)
    assert [(g.document_id, g.score, g.text) for g in groups] == [
        ("x", 0.9, "abc\n\nfgh"),
        ("y", 0.8, "abc"),
    ]


def test_shared_text_is_kept_once():
    [group] = group_by_document([span(4, 9), span(0, 6), span(9, 12)])
    assert group.text == TEXT[0:12]
    assert [c.metadata["start"] for c in group.candidates] == [0, 4, 9]


def test_offsets_that_do_not_fit_the_text_are_not_used():
    odd = Candidate("d#x", 1.0, "longer than that", {"document_id": "d", "start": 0, "end": 3})
    [group] = group_by_document([odd, span(0, 3)])
    assert group.text == "longer than that\n\nabc"


def test_without_offsets_the_incoming_order_stays():
    [group] = group_by_document([Candidate("d#2", 0.9, "two"), Candidate("d#1", 0.8, "one")])
    assert group.text == "two\n\none"


def test_impossible_offsets_are_named():
    odd = Candidate("bad", 1.0, "x", {"document_id": "d", "start": 3, "end": 1})
    with pytest.raises(PackError, match="'bad'"):
        group_by_document([odd])


def test_nothing_gives_nothing():
    assert group_by_document([]) == []


spans = st.tuples(st.integers(0, 25), st.integers(1, 26)).filter(lambda s: s[0] < s[1])


@given(st.lists(spans, min_size=1, max_size=6))
def test_joined_text_is_exactly_what_the_spans_cover(chosen):
    [group] = group_by_document([span(*s) for s in chosen], separator="|")
    covered = {i for start, end in chosen for i in range(start, end)}
    assert group.text.replace("|", "") == "".join(TEXT[i] for i in sorted(covered))
