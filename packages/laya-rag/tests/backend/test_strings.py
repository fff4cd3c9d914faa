from __future__ import annotations

import bisect
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from laya_rag.backend.arrays import ArrayFolder, ArrayWriter
from laya_rag.backend.strings import Strings, write_order, write_strings

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


def strings(values: list[str]) -> Strings:
    with tempfile.TemporaryDirectory() as folder:
        writer = ArrayWriter(Path(folder))
        write_strings(writer, "plain", values)
        write_order(writer, "plain", np.array(sorted(range(len(values)), key=values.__getitem__)))
        writer.finish({})
        return Strings(ArrayFolder(Path(folder)), "plain")


@settings(deadline=None)
@given(st.lists(texts, unique=True, max_size=12), st.lists(texts, max_size=4))
def test_texts_are_kept_and_found(values: list[str], others: list[str]) -> None:
    table = strings(values)
    assert len(table) == len(values)
    assert table.take(np.arange(len(values))) == values
    for text in [*values, *others]:
        assert table.find(text) == (values.index(text) if text in values else None)
        assert table.bound(text) == bisect.bisect_left(sorted(values), text)
        assert table.bound(text, after=True) == bisect.bisect_right(sorted(values), text)


def test_a_lone_surrogate_is_found_nowhere() -> None:
    assert strings(["a", "é"]).find("\ud800") is None
