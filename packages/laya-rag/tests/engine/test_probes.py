from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_rag.engine.probes import probes
from laya_retrieval.candidate import Candidate


def pool(*texts: str) -> list[Candidate]:
    return [Candidate(f"c{n}", 1.0, text) for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["It was found by Marie Curie."], ["Marie Curie"]),
        (
            ["The ferry is slow.", "He took the ferry; the Ferry Company owns it."],
            ["Ferry Company"],
        ),
        (["Curie left.", "Then Curie went to Paris."], ["Curie", "Paris"]),
        (["The mill stands. It turns.", "there it is, the mill"], []),
        (["潮の力で動く水車。"], []),
        (["Ask Captain Meyer.", "here Captain Meyer sailed"], ["Captain Meyer"]),
        ([""], []),
    ],
)
def test_names_of_the_pool(texts: list[str], expected: list[str]) -> None:
    assert probes("who", pool(*texts), 5) == expected


def test_a_name_of_the_question_brings_nothing_new() -> None:
    assert probes("where was marie curie born", pool("by Marie Curie in Warsaw."), 5) == ["Warsaw"]


def test_what_several_good_passages_name_comes_first() -> None:
    found = probes("q", pool("a Beta", "an Alpha", "an Alpha and a Gamma"), 2)
    assert found == ["Alpha", "Beta"]


@given(st.lists(st.text("ab AB.\n", max_size=20), max_size=5), st.integers(1, 4))
def test_probes_stand_in_the_pool_and_not_in_the_question(texts: list[str], limit: int) -> None:
    found = probes("A", pool(*texts), limit)
    assert len(found) <= limit
    assert len(set(found)) == len(found)
    for name in found:
        assert any(name in text for text in texts)
        assert name.casefold() != "a"
    assert found == probes("A", pool(*texts), limit)
