import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.document import OffsetMap, Replacement, SourceDocument
from laya_index.redact.base import Finding, redact
from laya_signals.passage import titled


class Planned:
    """Finds what it is told to."""

    fingerprint = "0"

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = findings

    def find(self, text: str) -> list[Finding]:
        return self.findings if text.startswith("@") else []


@st.composite
def redactions(draw: st.DrawFn) -> tuple[str, list[Finding], int]:
    text = "@" + draw(st.text(max_size=60))
    place = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(place, place), max_size=6))
    kinds = st.sampled_from(["A", "EMAIL", "A_MUCH_LONGER_KIND"])
    findings = [Finding(min(p), max(p), draw(kinds)) for p in pairs if p[0] != p[1]]
    return text, findings, draw(st.integers(0, 20))


@given(redactions(), st.data())
def test_a_span_of_redacted_text_maps_to_a_span_that_contains_its_source(
    case: tuple[str, list[Finding], int], data: st.DataObject
) -> None:
    text, findings, offset = case
    document = redact(SourceDocument("d", text, offset=offset), Planned(findings))
    start = data.draw(st.integers(0, len(document.text)))
    end = data.draw(st.integers(start, len(document.text)))
    first, last = document.offsets.start_of(start), document.offsets.end_of(end)
    assert offset <= first
    assert last <= offset + len(text)
    if start == end:
        return
    assert first < last
    hidden = {n for finding in findings for n in range(finding.start, finding.end)}
    source = range(first - offset, last - offset)
    content = document.text[start:end]
    if not hidden.intersection(source):
        assert text[first - offset : last - offset] == content
    else:
        # What was not redacted stands in both, in the same order.
        kept = [text[n] for n in source if n not in hidden]
        rest = iter(content)
        assert all(char in rest for char in kept)


@given(redactions())
def test_the_whole_text_maps_to_the_whole_document(case: tuple[str, list[Finding], int]) -> None:
    text, findings, offset = case
    document = redact(SourceDocument("d", text, offset=offset), Planned(findings))
    assert document.offsets.start_of(0) == offset
    assert document.offsets.end_of(len(document.text)) == offset + len(text)
    assert sum(document.redactions.values()) <= len(findings)


@pytest.mark.parametrize(
    ("start", "end", "source"),
    [
        (0, 3, (0, 3)),  # before
        (3, 6, (3, 8)),  # the placeholder itself
        (4, 5, (3, 8)),  # a part of it
        (0, 4, (0, 8)),
        (5, 8, (3, 10)),
        (6, 8, (8, 10)),  # after
    ],
)
def test_positions_inside_a_placeholder_mean_all_of_what_it_replaced(
    start: int, end: int, source: tuple[int, int]
) -> None:
    offsets = OffsetMap((Replacement(3, 8, 3),))
    assert (offsets.start_of(start), offsets.end_of(end)) == source


@pytest.mark.parametrize(
    "other",
    [
        {"text": "y"},
        {"title": "t"},
        {"media_type": "text/markdown"},
        {"uri": "u"},
        {"metadata": {"a": "b"}},
        {"offset": 1},
    ],
)
def test_the_digest_follows_everything_the_pipeline_reads(other: dict) -> None:
    plain = SourceDocument("d", "x")
    assert SourceDocument(**{"id": "d", "text": "x", **other}).digest != plain.digest
    assert SourceDocument("other id", "x").digest == plain.digest
    ordered = [
        SourceDocument("d", "x", metadata=dict(p)).digest
        for p in ([("a", "1"), ("b", "2")], [("b", "2"), ("a", "1")])
    ]
    assert ordered[0] == ordered[1]


@pytest.mark.parametrize(
    ("title", "content", "expected"),
    [
        ("", "text", "text"),
        ("Title", "text", "Title\ntext"),
        ("Title", "# Title\n\ntext", "# Title\n\ntext"),
        ("Title", "Title, and more", "Title, and more"),
    ],
)
def test_an_encoder_reads_the_title_once(title: str, content: str, expected: str) -> None:
    assert titled(title, content) == expected
