import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.chunk.blocks import Block, blocks_of

MARKDOWN = "text/markdown"


def kinds(text: str, media_type: str = MARKDOWN) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in blocks_of(text, media_type)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a\nb\n\nc", [("paragraph", "a\nb"), ("paragraph", "c")]),
        ("# A\ntext", [("heading", "# A"), ("paragraph", "text")]),
        ("A\n===\ntext", [("heading", "A\n==="), ("paragraph", "text")]),
        ("```\n# x\n\ny\n```\nz", [("code", "```\n# x\n\ny\n```"), ("paragraph", "z")]),
        ("    # indented\n", [("code", "# indented")]),
        ("- a\n\n  - b\n- c\n", [("list", "- a\n\n  - b\n- c")]),
        ("1. a\n2. b", [("list", "1. a\n2. b")]),
        ("|a|b|\n|-|-|\n|1|2|\n\nx", [("table", "|a|b|\n|-|-|\n|1|2|"), ("paragraph", "x")]),
        ("[a]: http://b\n\ntext", [("paragraph", "[a]: http://b"), ("paragraph", "text")]),
        ("> # quoted", [("paragraph", "> # quoted")]),
        ("#hashtag", [("paragraph", "#hashtag")]),
    ],
)
def test_markdown_blocks(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


def test_plain_text_has_paragraphs_only() -> None:
    text = "# a\n \t\n- b\n- c\n"
    assert kinds(text, "text/plain") == [("paragraph", "# a"), ("paragraph", "- b\n- c")]


def test_a_heading_knows_its_level_and_title() -> None:
    assert blocks_of("## A  b ##\n", MARKDOWN) == [Block(0, 10, "heading", 2, "A b")]


@given(st.text(st.sampled_from("a#`~|->\n \t=1.[]:*_<語\x00\x0b\x1c\u2028"), max_size=80))
def test_blocks_are_in_order_and_cover_everything_visible(text: str) -> None:
    for media_type in (MARKDOWN, "text/plain"):
        done = 0
        for block in blocks_of(text, media_type):
            assert not text[done : block.start].strip()
            assert text[block.start : block.end].strip() == text[block.start : block.end] != ""
            done = block.end
        assert not text[done:].strip()
