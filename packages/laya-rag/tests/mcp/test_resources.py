from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_rag.mcp import InvalidArgumentsError, NotFoundError
from laya_rag.mcp.resources import after_of, call_of, cursor_of, document_uri

ID = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(document_id=ID, after=st.none() | st.integers(0, 10**8))
def test_the_address_of_a_document_leads_back_to_it(document_id: str, after: int | None) -> None:
    uri = document_uri(document_id, after)
    assert uri.isascii()
    tool, arguments = call_of(uri)
    assert tool == "read_document"
    assert (arguments["document_id"], arguments["after"]) == (document_id, after)


def test_the_fixed_addresses() -> None:
    assert call_of("laya://stats") == ("corpus_stats", {})
    assert call_of("laya://documents") == ("list_documents", {"after": None, "limit": 200})
    assert call_of("laya://documents?after=a")[1]["after"] == "a"


@pytest.mark.parametrize(
    "uri",
    [
        *("", "laya://", "laya://stats/x", "laya://stats?after=1", "file:///etc/passwd"),
        *("laya://documents/a?after=x", "laya://documents/a?limit=3", "laya://documents/a#b"),
        *("laya://documents/a?after=-1", "laya://documents/a?after=99999999999", "laya://other/a"),
    ],
)
def test_no_addresses(uri: str) -> None:
    with pytest.raises(NotFoundError):
        call_of(uri)


@given(after=ID)
def test_a_cursor_leads_back(after: str) -> None:
    assert after_of(cursor_of(after)) == after


@given(cursor=st.text())
def test_any_other_cursor_is_refused_or_harmless(cursor: str) -> None:
    with suppress(InvalidArgumentsError):
        assert isinstance(after_of(cursor), str)
