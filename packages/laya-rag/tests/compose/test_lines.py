from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_rag.compose.errors import ModelServerError
from laya_rag.compose.lines import MAX_EVENT, line_objects, sse_objects

Reader = Callable[[Iterable[bytes]], Iterator[dict[str, Any]]]

OBJECTS = st.lists(
    st.dictionaries(st.text(max_size=3), st.text(max_size=6), max_size=2), max_size=5
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
LINES = [
    b"",
    b"",
    b'data: {"a": 1}',
    b'data:{"b": 2}',
    b"data",
    b": x",
    b"id: 1",
    b"event: x",
    b"x",
]
NOISE = st.sampled_from([b": keep-alive", b":", b"id: 7", b"retry: 10", b"unknown"])


@st.composite
def split(draw: st.DrawFn, stream: bytes) -> list[bytes]:
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    return [stream[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]


def plain(found: dict[str, Any]) -> bytes:
    return json.dumps(found, ensure_ascii=False).encode()


@given(st.data())
def test_events_are_the_same_however_the_bytes_come(data: st.DataObject) -> None:
    objects, end = data.draw(OBJECTS), data.draw(ENDS)
    stream = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    for found in objects:
        for line in data.draw(st.lists(NOISE, max_size=2)):
            stream += line + end
        stream += data.draw(st.sampled_from([b"data: ", b"data:"])) + plain(found) + end + end
    stream += data.draw(
        st.sampled_from([b"", b"data: [DONE]" + end + end + b"data: {}" + end + end])
    )
    assert list(sse_objects(data.draw(split(stream)))) == objects


@given(st.data())
def test_lines_are_the_same_however_the_bytes_come(data: st.DataObject) -> None:
    objects, end = data.draw(OBJECTS), data.draw(ENDS)
    stream = b"".join(plain(found) + end * data.draw(st.integers(1, 3)) for found in objects)
    if objects and data.draw(st.booleans()):
        stream = stream.rstrip(b"\r\n")
    assert list(line_objects(data.draw(split(stream)))) == objects


@given(stream=st.binary(max_size=60), data=st.data())
def test_any_bytes_are_read_the_same_however_they_come(stream: bytes, data: st.DataObject) -> None:
    chunks = data.draw(split(stream))
    for reader in (sse_objects, line_objects):
        assert outcome(reader, chunks) == outcome(reader, [stream])


def outcome(reader: Reader, chunks: list[bytes]) -> tuple[list[dict[str, Any]], str]:
    found: list[dict[str, Any]] = []
    try:
        found.extend(reader(chunks))
    except ModelServerError as error:
        return found, error.code
    return found, ""


@given(st.lists(st.sampled_from(LINES), max_size=12), ENDS)
def test_events_are_those_of_another_library(lines: list[bytes], end: bytes) -> None:
    # What is unfinished at the end is left out: the other one takes that for an event.
    stream = b"".join(line + end for line in [*lines, b""])
    headers = {"content-type": "text/event-stream"}
    request = httpx2.Request("POST", "http://localhost")
    response = httpx2.Response(200, headers=headers, content=stream, request=request)
    theirs = [event.data for event in httpx2.EventSource(response) if event.data.strip()]
    found, code = outcome(sse_objects, [stream])
    # Two objects in one event are none.
    assert found == [json.loads(data) for data in theirs[: len(found)]]
    assert (code == "bad_response") == (len(found) < len(theirs))
    assert code == "" or "\n" in theirs[len(found)]


def test_data_on_several_lines_is_one_event() -> None:
    assert list(sse_objects([b'data: {"a":\ndata: 1}\n\n'])) == [{"a": 1}]


def test_what_an_unfinished_event_says_is_dropped() -> None:
    assert list(sse_objects([b'data: {"a": 1}\n\ndata: {"b": 2}\n'])) == [{"a": 1}]


def test_an_unfinished_line_counts_only_if_it_is_whole() -> None:
    assert list(line_objects([b'{"a": 1}\n{"b": 2}'])) == [{"a": 1}, {"b": 2}]
    assert list(line_objects([b'{"a": 1}\n{"b": '])) == [{"a": 1}]


@pytest.mark.parametrize(
    "stream", [b'{"error": "full"}\n\n', b'event: error\ndata: {"error": "full"}\n\n']
)
def test_an_error_dropped_into_a_stream_is_read(stream: bytes) -> None:
    assert list(sse_objects([b": ok\n\n", stream])) == [{"error": "full"}]


def test_an_event_named_error_is_one_whatever_it_holds() -> None:
    assert list(sse_objects([b'event: error\ndata: {"message": "full"}\n\n'])) == [
        {"error": {"message": "full"}}
    ]
    # The name is that event's alone.
    assert list(sse_objects([b'event: error\n\ndata: {"a": 1}\n\n'])) == [{"a": 1}]


@pytest.mark.parametrize(
    ("reader", "stream"),
    [
        (sse_objects, b"data: {nope\n\n"),
        (sse_objects, b"data: [1]\n\n"),
        (sse_objects, b'data: {"a": "\xff"}\n\n'),
        (sse_objects, b"data: " + b"[" * 100_000 + b"\n\n"),
        (line_objects, b'{"a": 1\n{"b": 2}\n'),
        (line_objects, b"3\n"),
        (line_objects, b"<html>\n"),
    ],
)
def test_what_is_no_object_is_refused(reader: Reader, stream: bytes) -> None:
    with pytest.raises(ModelServerError) as caught:
        list(reader([stream]))
    assert caught.value.code == "bad_response"


@pytest.mark.parametrize(
    ("reader", "stream"),
    [
        (line_objects, [b"x" * 1000] * (MAX_EVENT // 1000 + 1)),
        (sse_objects, [b"data: x"] + [b"x" * 1000] * (MAX_EVENT // 1000 + 1)),
        (sse_objects, [b"data: " + b"x" * 1000 + b"\n"] * (MAX_EVENT // 1000 + 1)),
    ],
)
def test_an_event_without_end_is_given_up_on(reader: Reader, stream: list[bytes]) -> None:
    with pytest.raises(ModelServerError) as caught:
        list(reader(stream))
    assert caught.value.code == "too_large"
