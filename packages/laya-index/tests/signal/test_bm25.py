from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laya_index.bundle.schema import POSTING_COLUMNS, posting_columns, write_table
from laya_index.bundle.writer import BundleWriter
from laya_index.document import Chunk, OffsetMap, RedactedDocument
from laya_index.signal import bm25
from laya_index.signal.bm25 import count_fields, count_terms, merge, write_lexical
from laya_signals.bm25 import inverse_document_frequency
from laya_signals.tokenize.whitespace import WhitespaceTokenizer

TOKENIZER = WhitespaceTokenizer()


def chunk(content: str, title: str = "") -> Chunk:
    document = RedactedDocument("d", content, title, "text/plain", "", {}, "", OffsetMap(), {})
    return Chunk(document, 0, 0, len(content), content, ())


def rows(table: pa.Table) -> dict[str, dict[int, int]]:
    assert table.schema == POSTING_COLUMNS
    found = table.to_pylist()
    assert [row["term"] for row in found] == sorted({row["term"] for row in found})
    for row in found:
        assert row["ordinals"] == sorted(set(row["ordinals"]))
    return {
        row["term"]: dict(zip(row["ordinals"], row["frequencies"], strict=True)) for row in found
    }


def naive(contents: list[str]) -> dict[str, dict[int, int]]:
    expected: dict[str, dict[int, int]] = {}
    for ordinal, content in enumerate(contents):
        for term, count in Counter(content.split()).items():
            expected.setdefault(term, {})[ordinal] = count
    return expected


CONTENTS = st.lists(
    st.lists(st.sampled_from(["a", "b", "cc", "é", "語", "𝒳", "\ufb01"]), max_size=6).map(" ".join),
    max_size=12,
)


@st.composite
def split(draw: st.DrawFn) -> list[list[str]]:
    contents = draw(CONTENTS)
    cuts = sorted(draw(st.lists(st.integers(0, len(contents)), max_size=4)))
    return [contents[a:b] for a, b in zip([0, *cuts], [*cuts, len(contents)], strict=True)]


def parts_of(groups: list[list[str]]) -> list[tuple[pa.Table, int]]:
    parts, base = [], 0
    for group in groups:
        parts.append((count_terms([chunk(text) for text in group], TOKENIZER, 1), base))
        base += len(group)
    return parts


@given(split())
def test_merged_postings_are_what_counting_at_once_gives(groups: list[list[str]]) -> None:
    contents = [text for group in groups for text in group]
    merged = merge(parts_of(groups))
    assert rows(merged) == naive(contents)
    assert merged.equals(count_terms([chunk(text) for text in contents], TOKENIZER, 1))


@given(split(), st.integers(1, 4))
def test_merging_is_associative(groups: list[list[str]], at: int) -> None:
    parts = parts_of(groups)
    left, right = parts[:at], parts[at:]
    base = right[0][1] if right else 0
    inner = merge([(table, start - base) for table, start in right])
    assert merge([(merge(left), 0), (inner, base)]).equals(merge(parts))


@settings(max_examples=25, deadline=None)
@given(split(), st.integers(1, 3))
def test_the_files_hold_every_posting_with_its_weights(
    tmp_path_factory: pytest.TempPathFactory, groups: list[list[str]], block: int
) -> None:
    folder = tmp_path_factory.mktemp("lexical")
    contents = [text for group in groups for text in group]
    paths: list[tuple[Path, int]] = []
    for index, (table, base) in enumerate(parts_of(groups)):
        paths.append((folder / f"{index}.parquet", base))
        write_table(table, paths[-1][0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25, "_BLOCK_ROWS", 1)
        patch.setattr(bm25, "_LEAST_ROWS", block)
        files = write_lexical(BundleWriter(folder / "out"), paths, len(contents), inputs="i")
    expected = naive(contents)
    postings = pa.parquet.read_table(folder / "out" / files.postings.path)
    assert rows(postings) == expected
    terms = pa.parquet.read_table(folder / "out" / files.terms.path).to_pylist()
    assert [row["term"] for row in terms] == sorted(expected)
    for row in terms:
        counts = expected[row["term"]]
        assert (row["df"], row["cf"]) == (len(counts), sum(counts.values()))
        assert row["idf"] == float(inverse_document_frequency(len(counts), len(contents)))
        assert row["idf"] > 0
    length = sum(len(text.split()) for text in contents)
    assert files.average_length == (length / len(contents) if contents else 0.0)
    assert (files.terms.rows, files.postings.rows) == (len(expected), len(expected))


@pytest.mark.parametrize(
    ("weight", "expected"),
    [(0, {"a": 1, "b": 1}), (1, {"a": 2, "b": 1, "t": 1}), (3, {"a": 4, "b": 1, "t": 3})],
)
def test_a_title_term_counts_by_its_weight_in_every_chunk(
    weight: int, expected: dict[str, int]
) -> None:
    table = count_terms([chunk("a b", "A t"), chunk("b a", "A t")], TOKENIZER, weight)
    found = rows(table)
    for ordinal in (0, 1):
        assert {term: counts[ordinal] for term, counts in found.items()} == expected


def test_no_chunks_have_no_postings() -> None:
    assert merge([]).equals(count_terms([], TOKENIZER, 1))
    assert merge([(count_terms([], TOKENIZER, 1), 0)]).num_rows == 0


FIELDS = ("title", "headings", "content")
FIELD_TEXTS = st.tuples(
    st.sampled_from(["", "a b", "cc"]),
    st.lists(st.sampled_from(["a", "b cc", ""]), max_size=3).map(tuple),
    st.lists(st.sampled_from(["a", "b", "cc", "é"]), max_size=6).map(" ".join),
)


def fielded(title: str, headings: tuple[str, ...], content: str) -> Chunk:
    document = RedactedDocument("d", content, title, "text/plain", "", {}, "", OffsetMap(), {})
    return Chunk(document, 0, 0, len(content), content, headings)


@given(
    st.lists(FIELD_TEXTS, max_size=8), st.permutations(FIELDS), st.integers(1, 3), st.integers(0, 8)
)
def test_each_field_is_counted_apart_and_merged_like_the_rest(
    texts: list[tuple[str, tuple[str, ...], str]], order: list[str], count: int, at: int
) -> None:
    fields = order[:count]
    chunks = [fielded(*item) for item in texts]
    parts = [(count_fields(chunks[:at], TOKENIZER, fields), 0)]
    parts.append((count_fields(chunks[at:], TOKENIZER, fields), min(at, len(chunks))))
    merged = merge(parts)
    assert merged.equals(count_fields(chunks, TOKENIZER, fields))
    assert merged.schema == posting_columns(fields)
    expected: dict[str, dict[int, list[int]]] = {}
    for ordinal, (title, headings, content) in enumerate(texts):
        words = {"title": title, "headings": " ".join(headings), "content": content}
        for place, field in enumerate(fields):
            for term in words[field].split():
                row = expected.setdefault(term, {}).setdefault(ordinal, [0] * len(fields))
                row[place] += 1
    found = {
        row["term"]: {
            ordinal: [row[f"{field}_frequencies"][at] for field in fields]
            for at, ordinal in enumerate(row["ordinals"])
        }
        for row in merged.to_pylist()
    }
    assert found == expected
    for row in merged.to_pylist():
        by_field = zip(*(row[f"{field}_frequencies"] for field in fields), strict=True)
        assert row["frequencies"] == [sum(counts) for counts in by_field]


def test_the_content_alone_is_what_a_title_of_no_weight_leaves() -> None:
    chunks = [fielded("A t", ("h",), "a b a"), fielded("", (), ""), fielded("x", (), "b")]
    plain = count_terms(chunks, TOKENIZER, 0)
    apart = count_fields(chunks, TOKENIZER, ["content"])
    assert apart.select(plain.column_names).equals(plain)
    assert apart["content_frequencies"].equals(plain["frequencies"])
