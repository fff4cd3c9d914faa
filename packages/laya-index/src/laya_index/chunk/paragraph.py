"""The default chunker: whole paragraphs, cut at sentences where one is too long."""

from __future__ import annotations

import bisect
import unicodedata
from dataclasses import dataclass

import regex
from laya_signals import Component, ComponentConfig
from pydantic import Field, model_validator

from laya_index.chunk.blocks import Block, blocks_of
from laya_index.document import RedactedDocument, Span

# Where a sentence may begin: after closing punctuation and white space, after CJK punctuation, or
# on a new line.
_SENTENCE_START = regex.compile(
    r"""
      (?<=[.!?…][\p{Pe}\p{Pf}"'’”]*)\s+(?=\S)
    | (?<=[。！？｡][\p{Pe}\p{Pf}]*)\s*(?=\S)
    | \n\s*(?=\S)
    """,
    regex.VERBOSE,
)
_JOINERS = {"\u200d", "\ufe0e", "\ufe0f"}


class ParagraphChunkerConfig(ComponentConfig):
    """Settings of `chunker.paragraph`, all in characters.

    A chunk has at most `chars` (plus a joined trailing piece shorter than `min_chars`); inside a
    section, neighbouring chunks share at least `overlap`.
    """

    chars: int = Field(default=1200, ge=50)
    overlap: int = Field(default=400, ge=0)
    min_chars: int = Field(default=80, ge=1)

    @model_validator(mode="after")
    def _room_to_advance(self) -> ParagraphChunkerConfig:
        if self.overlap > self.chars // 2:
            raise ValueError(
                f"overlap ({self.overlap}) may be at most half of chars ({self.chars}), "
                "or a document would be indexed many times over"
            )
        if self.min_chars > self.chars // 2:
            raise ValueError(
                f"min_chars ({self.min_chars}) may be at most half of chars ({self.chars})"
            )
        return self


@dataclass(frozen=True, slots=True)
class _Section:
    start: int
    end: int
    heading_path: tuple[str, ...]
    blocks: list[Block]


class ParagraphChunker(Component[ParagraphChunkerConfig]):
    """Fills chunks with whole paragraphs and starts a new one at a heading.

    - A cut falls between paragraphs if one ends in the chunk's second half, else between
      sentences, else between words, and never inside a combined character.
    - Markdown code, tables and lists stay whole when they fit; a heading stays with what follows.
    - A heading starts a new chunk once the running one holds a third of `chars`; chunks do not
      overlap across that border. Within a section any stretch of at most `overlap` characters is
      whole in some chunk, unless a block that is kept whole needs the room.
    """

    Config = ParagraphChunkerConfig

    def chunk(self, document: RedactedDocument) -> list[Span]:
        """The spans of `document`, in order."""
        text = document.text
        spans: list[Span] = []
        for section in self._sections(blocks_of(text, document.media_type)):
            spans += self._cut(text, section)
        return spans

    def _sections(self, blocks: list[Block]) -> list[_Section]:
        sections: list[_Section] = []
        current: list[Block] = []
        path: list[tuple[int, str]] = []
        current_path: tuple[str, ...] = ()
        for block in blocks:
            if block.kind == "heading":
                only_headings = all(item.kind == "heading" for item in current)
                length = block.start - current[0].start if current else 0
                if current and not only_headings and length >= self.config.chars // 3:
                    sections.append(_section(current, current_path))
                    current = []
                path = [item for item in path if item[0] < block.level]
                path.append((block.level, block.title))
            if not current or all(item.kind == "heading" for item in current):
                current_path = tuple(title for _, title in path if title)
            current.append(block)
        if current:
            sections.append(_section(current, current_path))
        # A last section too short to stand alone joins the one before it.
        if len(sections) > 1 and sections[-1].end - sections[-1].start < self.config.min_chars:
            last = sections.pop()
            before = sections.pop()
            sections.append(_section(before.blocks + last.blocks, before.heading_path))
        return sections

    def _cut(self, text: str, section: _Section) -> list[Span]:
        config = self.config
        spans: list[Span] = []
        start = section.start
        while True:
            if section.end - start <= config.chars:
                end = section.end
            else:
                end = self._end(text, section, start)
                if section.end - end < config.min_chars:
                    end = section.end
            trimmed = start + len(text[start:end].rstrip())
            spans.append(Span(start, trimmed, section.heading_path))
            if end >= section.end:
                return spans
            start = self._next_start(text, section, start, end)

    def _end(self, text: str, section: _Section, start: int) -> int:
        """Where a chunk that starts at `start` and cannot reach the section's end is cut."""
        limit = start + self.config.chars
        least = start + max(self.config.chars // 2, self.config.overlap + 1)
        blocks = section.blocks
        index = bisect.bisect_right(blocks, limit, key=lambda block: block.start) - 1
        block = blocks[index]
        fits = block.end - block.start <= self.config.chars
        if block.whole and fits and start < block.start < limit < block.end:
            # It would be cut here, but is whole if it starts the next chunk.
            return self._before_headings(blocks, index, start)
        for at in range(index, 0, -1):
            if blocks[at].start < least:
                break
            if blocks[at].start <= limit:
                return self._before_headings(blocks, at, start)
        cuts = [match.end() for match in _SENTENCE_START.finditer(text, least, limit + 1)]
        cuts = [cut for cut in cuts if cut <= limit]
        if cuts:
            return cuts[-1]
        return _word_or_character_cut(text, least, limit)

    def _before_headings(self, blocks: list[Block], index: int, start: int) -> int:
        """The start of block `index`, or of the headings right above it: they stay together."""
        first = index
        while first > 0 and blocks[first - 1].kind == "heading" and blocks[first - 1].start > start:
            first -= 1
        return blocks[first].start

    def _next_start(self, text: str, section: _Section, start: int, end: int) -> int:
        """The next chunk's start: at least `overlap` before `end`, at a sentence if one is near."""
        overlap = self.config.overlap
        wanted, least = end - overlap, start + 1
        following = _block_at(section.blocks, end)
        kept = following is not None and following.whole
        if following is not None and kept and following.end - following.start <= self.config.chars:
            # Only as much overlap as leaves the block that starts here whole.
            least = max(least, following.end - self.config.chars)
        if overlap == 0:
            begin = end
        elif wanted < least:
            begin = self._forward(text, least, end) if kept else end
        else:
            reach = max(least, wanted - overlap // 2)
            sentences = [match.end() for match in _SENTENCE_START.finditer(text, reach, wanted + 1)]
            sentences = [place for place in sentences if reach <= place <= wanted]
            begin = sentences[-1] if sentences else _word_or_character_cut(text, reach, wanted)
        return _skip_blank(text, begin)

    @staticmethod
    def _forward(text: str, least: int, end: int) -> int:
        """The first sentence start in `least..end`."""
        for match in _SENTENCE_START.finditer(text, max(0, least - 1), end + 1):
            if least <= match.end() <= end:
                return match.end()
        return end


def _section(blocks: list[Block], path: tuple[str, ...]) -> _Section:
    return _Section(blocks[0].start, blocks[-1].end, path, blocks)


def _block_at(blocks: list[Block], position: int) -> Block | None:
    """The first block that is not a heading at or after `position`, if it is what starts there."""
    index = bisect.bisect_left(blocks, position, key=lambda block: block.start)
    while index < len(blocks) and blocks[index].kind == "heading":
        index += 1
    return blocks[index] if index < len(blocks) else None


def _skip_blank(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _word_or_character_cut(text: str, least: int, limit: int) -> int:
    """The last word start in `least..limit`; without one, `limit` moved out of a character."""
    for place in range(limit, least - 1, -1):
        if text[place - 1].isspace() and not text[place].isspace():
            return place
    place = limit
    while place > least and _inside_character(text, place):
        place -= 1
    return place


def _inside_character(text: str, place: int) -> bool:
    following = text[place]
    return (
        unicodedata.combining(following) != 0
        or following in _JOINERS
        or text[place - 1] == "\u200d"
        or "\U0001f3fb" <= following <= "\U0001f3ff"
    )
