from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_rag.http.cursors import Cursors
from laya_rag.http.problems import ProblemError

CURSORS = Cursors(b"k" * 32)
ROWS = st.one_of(st.text(max_size=50), st.integers(-1, 2**31))
LISTINGS = st.lists(st.text(max_size=10), max_size=3)


def refused(cursor: str, listing: Any, cursors: Cursors = CURSORS) -> None:
    with pytest.raises(ProblemError) as raised:
        cursors.read(cursor, listing)
    assert raised.value.code == "invalid_cursor"


@given(ROWS, LISTINGS)
def test_a_cursor_leads_to_its_row(row: str | int, listing: list[str]) -> None:
    cursor = CURSORS.make(row, listing)
    assert CURSORS.read(cursor, listing) == row
    assert cursor.isascii()


@given(ROWS, LISTINGS, LISTINGS)
def test_it_is_of_one_listing(row: str | int, listing: list[str], other: list[str]) -> None:
    if listing != other:
        refused(CURSORS.make(row, listing), other)


@given(st.data())
def test_a_changed_one_is_refused(data: st.DataObject) -> None:
    cursor = CURSORS.make("row", ["documents"])
    raw = bytearray(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    refused(base64.urlsafe_b64encode(bytes(raw)).rstrip(b"=").decode(), ["documents"])


@given(st.text(max_size=100))
def test_anything_else_is_refused(text: str) -> None:
    refused(text, ["documents"])


def test_it_ends_with_the_process() -> None:
    refused(Cursors().make("row", []), [], Cursors())
