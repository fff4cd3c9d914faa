import pytest
from laya_index.chunk.base import check_spans
from laya_index.document import OffsetMap, RedactedDocument, Span
from laya_index.errors import ChunkError

TEXT = "one two  three"


@pytest.mark.parametrize(
    ("spans", "problem"),
    [
        ([(0, 0)], "empty or out of order"),
        ([(0, 99)], "empty or out of order"),
        ([(-1, 3)], "empty or out of order"),
        ([(9, 14), (0, 7)], "is in no chunk"),
        ([(0, 7), (4, 14), (0, 3)], "empty or out of order"),
        ([(0, 4), (4, 14)], "blank edges"),
        ([(0, 3), (9, 14)], "3:9 is in no chunk"),
        ([(0, 7)], "after 7 is in no chunk"),
        ([], "after 0 is in no chunk"),
    ],
)
def test_spans_that_break_the_contract_name_the_document(
    spans: list[tuple[int, int]], problem: str
) -> None:
    document = RedactedDocument("the-id", TEXT, "", "text/plain", "", {}, "", OffsetMap(), {})
    with pytest.raises(ChunkError, match=f"the-id: .*{problem}"):
        check_spans(document, [Span(*span) for span in spans])


def test_overlapping_spans_that_cover_the_text_are_fine() -> None:
    document = RedactedDocument("the-id", TEXT, "", "text/plain", "", {}, "", OffsetMap(), {})
    check_spans(document, [Span(0, 7), Span(4, 14)])
