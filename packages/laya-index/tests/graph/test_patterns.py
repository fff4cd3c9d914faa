import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.graph.entity import EntityExtractor
from laya_index.graph.patterns import PatternExtractor
from laya_signals import ConfigError


def found(text: str, **settings: object) -> list[tuple[str, str]]:
    return [(item.type, item.name) for item in PatternExtractor(**settings).find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("we met Alice Smith in Berlin.", ["Alice Smith", "Berlin"]),
        ("Alice Smith went home.", ["Alice Smith"]),
        # One word at the start of a sentence proves nothing, unless the document has it inside one.
        ("Yesterday it rained. Nothing else.", []),
        ("Berlin is big. They like Berlin.", ["Berlin", "Berlin"]),
        ("It rained yesterday. Yesterday Alice Smith came.", ["Alice Smith"]),
        ("The Harbour Light shines. In Berlin too.", ["Harbour Light", "Berlin"]),
        ("at the University of Oxford and by Ludwig van Beethoven", ["University of Oxford"]),
        ("by Ludwig van Beethoven", ["Ludwig van Beethoven"]),
        ("of Jean-Luc Picard's and O'Brien's ships", ["Jean-Luc Picard", "O'Brien"]),
        ("in Zürich, with Dvořák at Großmünster", ["Zürich", "Dvořák", "Großmünster"]),
        ("в городе Санкт-Петербург и Москва", ["Санкт-Петербург", "Москва"]),
        ("RESULTS We saw Berlin in March. BACKGROUND The City Hall", ["Berlin", "City Hall"]),
        ("by World War II, in chapter IV", ["World War II"]),
        ("she said I'm not what I was", []),
        ("- First item\n- Second item", []),
        ("see Alice\n\nBob Jones and", ["Alice", "Bob Jones"]),
        ("with Alice\nSmith over a line", ["Alice Smith"]),
        ("A B C D E F G H I J K in a row", []),
        ("東京都に行きました。Größe", []),
        ("", []),
    ],
)
def test_names(text: str, expected: list[str]) -> None:
    if "Beethoven" in text and "Oxford" in text:
        expected = [*expected, "Ludwig van Beethoven"]
    assert found(text, kinds=["name"]) == [("name", name) for name in expected]


def test_a_heading_names_only_what_the_text_names() -> None:
    text = "# The Harbour Light\n\n## Getting Started Now\n\nwe saw the Harbour Light."
    assert found(text) == [("name", "Harbour Light")] * 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("with RRF and BM25, not FDEs", ["RRF", "BM25", "FDE"]),
        ("this is NOT true, AND so on", []),
        ("STOP SHOUTING AT EVERYBODY HERE", []),
        ("an HTTP API", ["HTTP", "API"]),
        ("of mRNAs and NATO", ["mRNA", "NATO"]),
        # In capitals, but a word: the text has it in small letters, or it opens a sentence.
        ("the METHODS are other methods", []),
        ("BACKGROUND: it is known. RESULTS We saw.", []),
        ("with MUVERA inside. RRF first.", ["MUVERA", "RRF"]),
        ("Elizabeth II", []),
        ("the `BM25` function", ["BM25"]),
    ],
)
def test_acronyms(text: str, expected: list[str]) -> None:
    assert found(text, kinds=["acronym"]) == [("acronym", name) for name in expected]


@pytest.mark.parametrize(
    "text",
    [
        "We use Reciprocal Rank Fusion (RRF) here.",
        "We use **Reciprocal Rank Fusion** (RRF) here.",
        "We use Reciprocal Rank\nFusion (RRF) here.",
        "We use RRF (Reciprocal Rank Fusion) here.",
    ],
)
def test_a_definition_is_one_entity_under_two_names(text: str) -> None:
    mentions = PatternExtractor().find(text)
    assert {(item.type, item.name) for item in mentions} == {
        ("acronym", "RRF"),
        ("name", "Reciprocal Rank Fusion"),
    }
    assert {item.expansion for item in mentions} == {None, "Reciprocal Rank Fusion"}
    for item in mentions:
        assert " ".join(text[item.start : item.end].split()) == item.name


@pytest.mark.parametrize(
    "text", ["Some text. (RRF) is left.", "Rain ruined. Friday (RRF)", "[Real rich fun](x) (RRF)"]
)
def test_a_long_form_stands_in_the_same_sentence(text: str) -> None:
    assert all(item.expansion is None for item in PatternExtractor().find(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call snake_case and MultiHopExpander", ["snake_case", "MultiHopExpander"]),
        ("in laya_index.graph or numpy.linalg", ["laya_index.graph", "numpy.linalg"]),
        ("reads graph-edges.parquet and docs/graph.md", ["graph-edges.parquet", "docs/graph.md"]),
        ("`fuse(x, y)`, `--out` and `.laya`", ["fuse", "out", "laya"]),
        ("`laya process stacks`, `12` and ``x``", []),
        ("it ended.Then came e.g. the U.S.A. at 3.14", []),
        ("write to jane.roe@example.com", []),
        ("_emphasised_ and __init__", []),
        ("```\nx = FooBar(a_b)\nAlice Smith met RRF\n```\nAlice", ["FooBar", "a_b"]),
    ],
)
def test_code(text: str, expected: list[str]) -> None:
    kinds = ["code"] if "```" not in text else ["code", "name", "acronym"]
    assert found(text, kinds=kinds) == [("code", name) for name in expected]


def test_links_and_nothing_inside_them() -> None:
    text = "See [Alice Smith](../Some_Page/ABC.md#X) and https://Example.com/Some_Page."
    assert found(text) == [
        ("name", "Alice Smith"),
        ("link", "../Some_Page/ABC.md#X"),
        ("link", "https://Example.com/Some_Page"),
    ]


def test_some_names_can_be_ignored() -> None:
    assert found("the Big Thing and Berlin", ignore=["big  thing"]) == [("name", "Berlin")]


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="kinds"):
        PatternExtractor(kinds=[])


PIECES = [
    *("Alice", "alice", "RRF", "(RRF)", " ", "\n", "\n\n", ". ", "`", "```", "](", "[", ")", "("),
    *("snake_case", "a.b", "https://", "#", "# ", "of", "[EMAIL]", "'s", "’", "-", "東京", "É"),
    *("\u0301", "\u2028", "\r", "İ", "ß"),
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=40).map("".join))
def test_mentions_lie_in_the_text_in_order(text: str) -> None:
    extractor = PatternExtractor()
    assert isinstance(extractor, EntityExtractor)
    mentions = extractor.find(text)
    assert mentions == extractor.find(text)
    assert mentions == sorted(mentions, key=lambda item: (item.start, item.end, item.type))
    for item in mentions:
        assert 0 <= item.start < item.end <= len(text)
        assert item.name.strip()
        assert 0 < item.confidence <= 1
        if item.type in {"name", "acronym"}:
            assert " ".join(text[item.start : item.end].split()).startswith(item.name)


HOSTILE = ["`", "](", "A.", "a", "A B ", "_", "(", "(AB)", "http://", "[x](a", "a-", "A\n", "```\n"]
HOSTILE += ["AB (", "'", "a.b", "#", "A_", "\u0301", " ", "Aa of ", "x`", "RRF (a b "]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_costs_no_more_than_its_length(piece: str) -> None:
    # Counted, not timed: what the interpreter executes for twice the text is about twice as much.
    import sys

    def steps(text: str) -> int:
        count = 0

        def trace(*_: object) -> object:
            nonlocal count
            count += 1
            return trace

        sys.settrace(trace)
        try:
            PatternExtractor().find(text)
        finally:
            sys.settrace(None)
        return count

    once, twice = (steps(piece * (n // len(piece))) for n in (2000, 4000))
    assert twice < 2.5 * once + 1000
