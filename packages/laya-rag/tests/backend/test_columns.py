from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laya_index.errors import BundleError
from laya_rag.backend.arrays import ArrayFolder, ArrayWriter
from laya_rag.backend.columns import Columns, write_column
from laya_retrieval.filters import Filter, parse_filter

TYPES = {
    "text": pa.string(),
    "number": pa.int32(),
    "share": pa.float32(),
    "names": pa.list_(pa.string()),
    "shares": pa.list_(pa.float32()),
}

words = st.sampled_from(["", "a", "b", "ab", "é", "zz"])
integers = st.integers(-3, 3)
halves = st.sampled_from([-1.5, 0.0, 0.5, 1.0, 2.0])
rows = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.none() | words,
            "number": st.none() | integers,
            "share": st.none() | halves,
            "names": st.none() | st.lists(words, max_size=3),
            "shares": st.none() | st.lists(halves, max_size=3),
        }
    ),
    max_size=8,
)
scalars = words | integers | halves | st.booleans() | st.just(2**70) | st.just(2**53 + 1)
leaves = st.one_of(
    st.builds(
        lambda field, op, value: {field: {op: value}},
        st.sampled_from(list(TYPES)),
        st.sampled_from(["gt", "gte", "lt", "lte"]),
        scalars.filter(lambda value: not isinstance(value, bool)),
    ),
    st.builds(
        lambda field, op, value: {field: {op: value}},
        st.sampled_from(list(TYPES)),
        st.sampled_from(["eq", "ne"]),
        scalars,
    ),
    st.builds(
        lambda field, op, value: {field: {op: value}},
        st.sampled_from(list(TYPES)),
        st.sampled_from(["in", "nin"]),
        st.lists(scalars, max_size=3),
    ),
    st.builds(
        lambda field, value: {field: {"exists": value}},
        st.sampled_from(list(TYPES)),
        st.booleans(),
    ),
)
trees = st.recursive(
    leaves,
    lambda children: st.one_of(
        st.builds(lambda c: {"and": c}, st.lists(children, max_size=3)),
        st.builds(lambda c: {"or": c}, st.lists(children, max_size=3)),
        st.builds(lambda c: {"not": c}, children),
    ),
    max_leaves=4,
).map(parse_filter)


def columns(table: list[dict[str, Any]]) -> Columns:
    with tempfile.TemporaryDirectory() as folder:
        writer = ArrayWriter(Path(folder))
        kinds = {
            name: write_column(writer, name, pa.chunked_array([[r[name] for r in table]], kind))
            for name, kind in TYPES.items()
        }
        writer.finish({"columns": kinds})
        return Columns(ArrayFolder(Path(folder)))


@settings(deadline=None, max_examples=150)
@given(rows, trees)
def test_a_filter_holds_where_it_holds_row_by_row(
    table: list[dict[str, Any]], tree: Filter
) -> None:
    assert columns(table).matching(tree).tolist() == [tree.matches(row) for row in table]


@settings(deadline=None)
@given(rows, st.randoms())
def test_rows_come_back_as_they_were(table: list[dict[str, Any]], random: Any) -> None:
    wanted = [random.randrange(len(table)) for _ in range(3)] if table else []
    assert columns(table).take(np.array(wanted, np.int64)) == [table[row] for row in wanted]


def test_a_type_that_nothing_searches_by_is_named(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="'odd'"):
        write_column(ArrayWriter(tmp_path), "odd", pa.chunked_array([[b"x"]]))
