"""The default chunker: whole paragraphs, cut at sentences where one is too long."""

from __future__ import annotations

import bisect
from dataclasses import dataclass

import regex
from laya_signals import Component, ComponentConfig
from pydantic import Field, model_validator

from laya_index.chunk.blocks import Block, blocks_of
from laya_index.document import RedactedDocument, Span

# What belongs to the character before it.
_EXTENDS = r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]"
# Where a sentence may begin: after closing punctuation and white space, after CJK punctuation, or
# on a new line.
_SENTENCE_START = regex.compile(
    rf"""
      (?: (?<=[.!?…][\p{{Pe}}\p{{Pf}}"'’”]*)\s+
        | (?<=[。！？｡][\p{{Pe}}\p{{Pf}}]*)\s*
        | \n\s* )
      (?=\S)(?!{_EXTENDS})
    """,
    regex.VERBOSE,
)
_WORD_START = regex.compile(rf"(?<=\s)(?=\S)(?!{_EXTENDS})")
_CHARACTER = regex.compile(r"\X")
# How far back to look for a place where characters can be counted from.
_REACH = 256


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
    """Blocks that share chunks; `paths` are the headings above each block, its own included."""

    blocks: list[Block]
    paths: list[tuple[str, ...]]

    @property
    def start(self) -> int:
        return self.blocks[0].start

    @property
    def end(self) -> int:
        return self.blocks[-1].end

    def last_starting_by(self, position: int) -> int:
        """The index of the last block that starts at or before `position`."""
        return bisect.bisect_right(self.blocks, position, key=lambda block: block.start) - 1

    def before_headings(self, index: int) -> int:
        """The first of the headings right above block `index`; without any, `index`."""
        while index > 0 and self.blocks[index - 1].kind == "heading":
            index -= 1
        return index

    def path_at(self, position: int) -> tuple[str, ...]:
        """The headings above `position`, with those that start there."""
        index = self.last_starting_by(position)
        while index + 1 < len(self.blocks) and self.blocks[index].kind == "heading":
            if self.blocks[index + 1].kind != "heading":
                break
            index += 1
        return self.paths[index]


class ParagraphChunker(Component[ParagraphChunkerConfig]):
    """Fills chunks with whole paragraphs and starts a new one at a heading.

    - A cut falls between paragraphs if one ends in the chunk's second half, else between
      sentences, else between words, and never inside a combined character.
    - Markdown code, tables and lists that fit are whole in some chunk; a heading stays with what
      follows.
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
        current = _Section([], [])
        path: list[tuple[int, str]] = []
        for block in blocks:
            if block.kind == "heading":
                only_headings = all(item.kind == "heading" for item in current.blocks)
                if not only_headings and block.start - current.start >= self.config.chars // 3:
                    sections.append(current)
                    current = _Section([], [])
                path = [item for item in path if item[0] < block.level]
                path.append((block.level, block.title))
            current.blocks.append(block)
            current.paths.append(tuple(title for _, title in path if title))
        if current.blocks:
            sections.append(current)
        # A last section too short to stand alone joins the one before it.
        if len(sections) > 1 and sections[-1].end - sections[-1].start < self.config.min_chars:
            last, before = sections.pop(), sections.pop()
            sections.append(_Section(before.blocks + last.blocks, before.paths + last.paths))
        return sections

    def _cut(self, text: str, section: _Section) -> list[Span]:
        chars, min_chars = self.config.chars, self.config.min_chars
        spans: list[Span] = []
        start, end = section.start, section.start
        while end < section.end:
            if section.end - start <= chars:
                end = section.end
            else:
                end = self._end(text, section, start, end)
                short = section.end - _skip_blank(text, end) < min_chars
                if short and section.end - start <= chars + min_chars:
                    end = section.end
            trimmed = start + len(text[start:end].rstrip())
            spans.append(Span(start, trimmed, section.path_at(start)))
            if end < section.end:
                start = self._next_start(text, section, start, end)
        return spans

    def _end(self, text: str, section: _Section, start: int, previous: int) -> int:
        """Where a chunk that starts at `start` and cannot reach the section's end is cut.

        `previous` is where the chunk before it ended: this one shows more.
        """
        blocks = section.blocks
        limit = start + self.config.chars
        floor = max(start, _skip_blank(text, previous))
        least = max(start + max(self.config.chars // 2, self.config.overlap + 1), floor + 1)
        last = section.last_starting_by(limit)
        if self._is_kept_whole(blocks[last]) and start < blocks[last].start < limit:
            head = blocks[section.before_headings(last)].start
            if limit < blocks[last].end and head > floor:
                return head  # it would be cut here, but is whole in the next chunk
        for index in range(last, -1, -1):
            if blocks[index].end < least:
                break
            if blocks[index].kind != "heading" and blocks[index].end <= limit:
                return blocks[index].end
        return self._end_inside_a_block(text, section, floor, least, limit)

    def _end_inside_a_block(
        self, text: str, section: _Section, floor: int, least: int, limit: int
    ) -> int:
        # Not right behind a heading, nor inside one: behind the start of what follows it.
        index = section.last_starting_by(limit)
        if section.blocks[index].kind == "heading":
            head = section.blocks[section.before_headings(index)].start
            if head > floor:
                return head
        elif index > 0 and section.blocks[index - 1].kind == "heading":
            following = section.blocks[index].start + 1
            head = section.blocks[section.before_headings(index)].start
            if following > limit and head > floor:
                return head
            least = max(least, min(following, limit))
        cuts = _places(_SENTENCE_START, text, least, limit)
        cuts = cuts or _places(_WORD_START, text, least, limit)
        return cuts[-1] if cuts else _character_cut(text, floor + 1, limit, limit)

    def _next_start(self, text: str, section: _Section, start: int, end: int) -> int:
        """The next chunk's start: at least `overlap` before `end`, at a sentence if one is near."""
        blocks, overlap, chars = section.blocks, self.config.overlap, self.config.chars
        inside = blocks[section.last_starting_by(end)]
        if self._is_kept_whole(inside) and start < inside.start < end < inside.end:
            return inside.start  # only a part of it fitted beside its headings: here all of it does
        wanted, following = end - overlap, _skip_blank(text, end)
        least = max(start, following - chars) + 1  # or it would show nothing new
        kept = self._kept_whole_after(text, section, end)
        if overlap == 0 or (wanted < least and kept is None):
            return following
        begin = end
        if wanted >= least:
            reach = max(least, wanted - overlap // 2)
            begin = (
                _places(_SENTENCE_START, text, reach, wanted)
                or _places(_WORD_START, text, reach, wanted)
                or [_character_cut(text, least, wanted, end)]
            )[-1]
        if kept is not None and (wanted < least or kept.end - begin > chars):
            # As much of what leads up to the block as leaves the block whole.
            least = min(max(start + 1, kept.end - chars), end)
            begin = (_places(_SENTENCE_START, text, least, end) or [end])[0]
        return _skip_blank(text, begin)

    def _kept_whole_after(self, text: str, section: _Section, end: int) -> Block | None:
        """The block that comes right after `end`, headings aside, if it should stay whole."""
        blocks = section.blocks
        index = bisect.bisect_left(blocks, end, key=lambda block: block.start)
        if index == len(blocks) or text[end : blocks[index].start].strip():
            return None
        while index + 1 < len(blocks) and blocks[index].kind == "heading":
            index += 1
        return blocks[index] if self._is_kept_whole(blocks[index]) else None

    def _is_kept_whole(self, block: Block) -> bool:
        return block.whole and block.end - block.start <= self.config.chars


def _skip_blank(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _places(pattern: regex.Pattern[str], text: str, least: int, limit: int) -> list[int]:
    """Where matches of `pattern` end, in `least..limit`."""
    # A match that ends in the range may begin before it.
    found = (match.end() for match in pattern.finditer(text, max(0, least - 2), limit + 1))
    return [place for place in found if least <= place <= limit]


def _character_cut(text: str, least: int, limit: int, most: int) -> int:
    """The last end of a character (as a reader sees it) in `least..limit`.

    Without one, the next that follows, but at most `most`.
    """
    place = limit
    while place > max(0, limit - _REACH) and not text[max(0, place - 1) : place + 1].isascii():
        place -= 1
    ends = [place] if place else []
    for match in _CHARACTER.finditer(text, place):
        ends.append(match.end())
        if match.end() > limit:
            break
    fitting = [end for end in ends if least <= end <= limit]
    return fitting[-1] if fitting else min(ends[-1], most)
