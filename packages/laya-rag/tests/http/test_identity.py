from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_rag.http.identity import Trace

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]")


@pytest.mark.parametrize(
    ("header", "flags"),
    [
        (f"00-{TRACE}-{SPAN}-01", "01"),
        (f"00-{TRACE}-{SPAN}-00", "00"),
        (f"00-{TRACE}-{SPAN}-ff", "01"),
        (f"cc-{TRACE}-{SPAN}-01", "01"),
        (f"cc-{TRACE}-{SPAN}-01-what-the-future-brings", "01"),
    ],
)
def test_a_trace_is_continued_by_a_new_span(header: str, flags: str) -> None:
    trace = Trace.following(header)
    assert (trace.trace_id, trace.flags) == (TRACE, flags)
    assert trace.span_id != SPAN
    assert VALID.fullmatch(str(trace))


@pytest.mark.parametrize(
    "header",
    [
        *(None, "", "00", f"00-{TRACE}-{SPAN}", f"00-{TRACE.upper()}-{SPAN}-01"),
        *(f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{'0' * 16}-01", f"ff-{TRACE}-{SPAN}-01"),
        *(f"00-{TRACE}-{SPAN}-01-more", f"00-{TRACE}-{SPAN}-1", f" 00-{TRACE}-{SPAN}-01"),
        *(f"00-{TRACE[:-1]}-{SPAN}-01", f"00-{TRACE}-{SPAN}-01\n", f"cc-{TRACE}-{SPAN}-01more"),
    ],
)
def test_anything_else_begins_a_new_trace(header: str | None) -> None:
    trace = Trace.following(header)
    assert trace.trace_id != TRACE
    assert VALID.fullmatch(str(trace))


@given(st.text(alphabet="0123456789abcdef-", max_size=60))
def test_whatever_comes_a_valid_header_goes_out(header: str) -> None:
    assert VALID.fullmatch(str(Trace.following(header)))


@pytest.mark.parametrize("given_id", ["a", "req-1.2/3:4_5@6+7=8", "x" * 128])
def test_a_request_id_is_echoed(site: Any, given_id: str) -> None:
    with site.client() as client:
        for path in ("/healthz", "/nothing", "/v1/stats", "/v1/documents?limit=0"):
            answer = client.get(path, headers={"X-Request-ID": given_id})
            assert answer.headers["X-Request-ID"] == given_id


@pytest.mark.parametrize("given_id", ["", "x" * 129, "a b", "a\tb", "<script>", "a;b", "ä", '"'])
def test_an_id_that_could_do_harm_in_a_log_is_replaced(site: Any, given_id: str) -> None:
    with site.client() as client:
        answers = [
            client.get("/healthz", headers={"X-Request-ID": given_id.encode()}) for _ in range(2)
        ]
    first, second = (answer.headers["X-Request-ID"] for answer in answers)
    assert re.fullmatch(r"[0-9a-f]{32}", first)
    assert first != second


def test_a_trace_goes_through(site: Any) -> None:
    header = f"00-{TRACE}-{SPAN}-01"
    with site.client() as client:
        answer = client.get("/nothing", headers={"traceparent": header})
        assert answer.headers["traceparent"].startswith(f"00-{TRACE}-")
        assert answer.headers["traceparent"] != header
        twice = client.get("/healthz", headers=[("traceparent", header), ("traceparent", header)])
        assert TRACE not in twice.headers["traceparent"]
