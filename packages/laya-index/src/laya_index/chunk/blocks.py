"""The block structure of a text: what belongs together, and under which heading."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt

_PARAGRAPH_BREAK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
#: Types of documents whose text is Markdown, if not their own then that of their loader.
MARKDOWN = frozenset(
    {
        "text/markdown",
        "text/html",
        "application/pdf",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    }
)
#: Markdown blocks that lose their sense when cut.
_WHOLE = {
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
}


@dataclass(frozen=True, slots=True)
class Block:
    """`text[start:end]` without blank edges; `kind` is paragraph, heading, code, table or list."""

    start: int
    end: int
    kind: str = "paragraph"
    level: int = 0
    title: str = ""

    @property
    def whole(self) -> bool:
        """Whether this block should not be cut when it fits a chunk."""
        return self.kind in {"code", "table", "list"}


def blocks_of(text: str, media_type: str) -> list[Block]:
    """The blocks of `text` in order; together they cover every character that is not blank."""
    return _markdown_blocks(text) if media_type in MARKDOWN else _paragraphs(text, 0)


def _paragraphs(text: str, base: int) -> list[Block]:
    blocks: list[Block] = []
    start = 0
    for match in _PARAGRAPH_BREAK.finditer(text):
        _add(blocks, text, start, match.start(), base)
        start = match.end()
    _add(blocks, text, start, len(text), base)
    return blocks


def _add(
    blocks: list[Block], text: str, start: int, end: int, base: int, kind: str = "paragraph"
) -> None:
    piece = text[start:end]
    visible = piece.strip()
    if visible:
        start += len(piece) - len(piece.lstrip())
        blocks.append(Block(base + start, base + start + len(visible), kind))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    # Blocks are all that is wanted here; inline parsing is most of the work.
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _markdown_blocks(text: str) -> list[Block]:
    lines = _line_starts(text)
    blocks: list[Block] = []
    done = 0
    tokens = _parser().parse(text)
    for index, token in enumerate(tokens):
        if token.level or token.map is None or token.nesting < 0:
            continue
        first, last = token.map
        start, end = lines[first], lines[min(last, len(lines) - 1)]
        # What no token covers (link definitions, say) is text all the same.
        blocks += _paragraphs(text[done:start], done)
        if token.type == "heading_open":
            piece = text[start:end]
            lead = len(piece) - len(piece.lstrip())
            blocks.append(
                Block(
                    start + lead,
                    start + len(piece.rstrip()),
                    "heading",
                    int(token.tag[1:]),
                    " ".join(tokens[index + 1].content.split()),
                )
            )
        else:
            _add(
                blocks, text[start:end], 0, end - start, start, _WHOLE.get(token.type, "paragraph")
            )
        done = max(done, end)
    blocks += _paragraphs(text[done:], done)
    return blocks


def _line_starts(text: str) -> list[int]:
    starts = [0]
    starts += [match.end() for match in re.finditer("\n", text)]
    if starts[-1] != len(text):
        starts.append(len(text))
    return starts
