from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.bundle.reader import BundleReader
from laya_index.document import SourceDocument
from laya_index.integrity.texts import document_texts, folded, joined
from laya_index.redact.base import redact
from laya_index.redact.patterns import PatternRedactor


@pytest.mark.parametrize(
    ("passages", "expected"),
    [
        ([], ""),
        ([(0, 5, "abcde")], "abcde"),
        ([(0, 5, "abcde"), (3, 8, "defgh")], "abcdefgh"),
        ([(0, 5, "abcde"), (7, 9, "fg")], "abcde\nfg"),
        ([(0, 5, "abcde"), (5, 9, "fghi")], "abcde\nfghi"),
        ([(0, 5, "abcde"), (1, 4, "bcd"), (4, 7, "efg")], "abcdefg"),
        # `x@y.zz` (6 characters) is a placeholder of 7 in both
        ([(0, 10, "abc [EMAIL]"), (4, 14, "[EMAIL] def")], "abc [EMAIL] def"),
    ],
)
def test_what_neighbours_share_is_there_once(
    passages: list[tuple[int, int, str]], expected: str
) -> None:
    assert joined(passages) == expected


@given(st.text(alphabet="ab c\n", min_size=1, max_size=80), st.data())
def test_a_text_comes_back_from_any_cover(text: str, data: st.DataObject) -> None:
    passages, start, reached = [], 0, 0
    while reached < len(text):
        end = data.draw(st.integers(max(reached, start) + 1, len(text)))
        passages.append((start, end, text[start:end]))
        reached = end
        start = data.draw(st.integers(start, end - 1)) if end < len(text) else end
    # Where passages only touch, a run of white space is put between.
    assert "".join(joined(passages).split()) == "".join(text.split())


@pytest.mark.parametrize("overlap", [0, 40])
def test_documents_come_back_as_they_were_redacted(
    tmp_path: Path, write: Callable[..., Path], run: Callable[..., object], overlap: int
) -> None:
    texts = {
        f"{n}.txt": "\n\n".join(
            f"Paragraph {i} of {n} by a{i}.b@example.com and others." for i in range(9)
        )
        for n in range(5)
    }
    root = write(tmp_path / "in", texts)
    run(root, tmp_path / "out", f"chunk.overlap={overlap}")
    with BundleReader.open(tmp_path / "out") as reader:
        found = dict(document_texts(reader))
    assert found == {
        name: folded(redact(SourceDocument(name, text), PatternRedactor()).text)
        for name, text in texts.items()
    }
