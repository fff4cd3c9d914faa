import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.chunk.base import Chunker, check_spans
from laya_index.chunk.document import DocumentChunker
from laya_index.document import OffsetMap, RedactedDocument, Span
from laya_signals import ConfigError


def document(text: str) -> RedactedDocument:
    return RedactedDocument("d", text, "", "text/plain", "", {}, "", OffsetMap(), {})


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("", []),
        (" \n\u2028 ", []),
        ("x", [Span(0, 1)]),
        ("\n # A\n\ntext \n", [Span(2, 11)]),
    ],
)
def test_a_document_is_one_chunk_without_its_blank_edges(text: str, spans: list[Span]) -> None:
    assert DocumentChunker().chunk(document(text)) == spans


@given(st.text())
def test_any_text_keeps_the_contract(text: str) -> None:
    check_spans(document(text), DocumentChunker().chunk(document(text)))


def test_it_is_a_chunker_without_settings() -> None:
    assert isinstance(DocumentChunker(), Chunker)
    with pytest.raises(ConfigError, match="chars"):
        DocumentChunker(chars=100)
