from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.document import Chunk, RedactedDocument, SourceDocument
from laya_index.graph.entity import Mention
from laya_index.graph.mentions import MENTION_COLUMNS, count_mentions, join_mentions
from laya_index.graph.patterns import PatternExtractor
from laya_index.redact.base import Finding, redact


class Given:
    """Finds what it is told to find."""

    fingerprint = "0"

    def __init__(self, *mentions: Mention) -> None:
        self.mentions = mentions

    def find(self, text: str) -> Sequence[Mention]:
        return self.mentions


class Hiding:
    """Takes every `secret` for personal data."""

    fingerprint = "0"

    def find(self, text: str) -> list[Finding]:
        starts = [n for n in range(len(text)) if text.startswith("secret", n)]
        return [Finding(start, start + 6, "PERSON") for start in starts]


def chunks(document: RedactedDocument, *spans: tuple[int, int]) -> list[Chunk]:
    return [
        Chunk(
            document,
            ordinal,
            document.offsets.start_of(start),
            document.offsets.end_of(end),
            document.text[start:end],
            (),
        )
        for ordinal, (start, end) in enumerate(spans)
    ]


def count(text: str, spans: list[tuple[int, int]], *mentions: Mention) -> list[dict]:
    document = redact(SourceDocument("d", text, offset=7), Hiding())
    table = count_mentions([(document, "d", chunks(document, *spans))], Given(*mentions))
    assert table.schema.equals(MENTION_COLUMNS)
    return table.to_pylist()


def mention(start: int, end: int, name: str = "x", kind: str = "name") -> Mention:
    return Mention(start, end, kind, name, 0.5)


def test_a_mention_counts_in_every_chunk_that_holds_all_of_it() -> None:
    spans = [(0, 10), (5, 15), (12, 20)]
    found = count("a" * 20, spans, mention(6, 9), mention(8, 12), mention(9, 16), mention(18, 20))
    assert [(row["row"], row["count"]) for row in found] == [(0, 1), (1, 2), (2, 1)]


def test_offsets_are_those_of_the_redacted_text() -> None:
    # "secret" becomes "[PERSON]": what follows moves.
    text = "secret and Ada"
    found = count(text, [(0, 16)], mention(13, 16, "Ada"))
    assert [row["name"] for row in found] == ["Ada"]


@pytest.mark.parametrize("span", [(0, 16), (4, 6), (5, 16), (6, 7), (1, 14), (11, 13)])
def test_what_touches_a_placeholder_is_no_mention(span: tuple[int, int]) -> None:
    assert count("with secret and", [(0, 17)], mention(*span)) == []
    assert len(count("with secret and", [(0, 17)], mention(0, 4), mention(14, 17))) == 1


def test_a_link_is_resolved_against_the_redacted_name() -> None:
    document = redact(SourceDocument("secret/a.md", "see b.md"), Hiding())
    link = Given(mention(4, 8, "b.md", "link"))
    table = count_mentions([(document, "x/a.md", chunks(document, (0, 8)))], link)
    assert table["key"].to_pylist() == ["x/b.md"]
    table = count_mentions([(document, "[PERSON]/a.md", chunks(document, (0, 8)))], link)
    assert table.num_rows == 0


@given(
    st.lists(st.sampled_from(["Ada Lovelace", "RRF", "a_b", ", ", ". ", "\n\n", "secret"]))
    .map("".join)
    .map(lambda text: f"of {text}"),
    st.integers(1, 4),
)
def test_batches_join_into_what_one_batch_gives(text: str, batches: int) -> None:
    documents = [redact(SourceDocument(f"d{n}", text * n), Hiding()) for n in range(1, 5)]
    named = [
        (item, item.id, chunks(item, *((n, min(n + 9, len(item.text))) for n in range(0, 30, 6))))
        for item in documents
    ]
    extractor = PatternExtractor()
    whole = count_mentions(named, extractor)
    parts: list[tuple[pa.Table, int]] = []
    base = 0
    for start in range(0, 4, batches):
        batch = named[start : start + batches]
        parts.append((count_mentions(batch, extractor), base))
        base += sum(len(group) for _, _, group in batch)
    assert join_mentions(parts).equals(whole)
