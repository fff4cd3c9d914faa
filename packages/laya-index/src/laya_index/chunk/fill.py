"""Filling chunks of a limited size, whatever the size is counted in.

The chunkers differ in what they count (characters, tokens) and share where they cut.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from laya_index.chunk.blocks import Block
from laya_index.chunk.boundary import character_cut, sentence_starts, skip_blank, word_starts
from laya_index.chunk.ruler import Ruler
from laya_index.chunk.section import Section
from laya_index.document import Span


@dataclass(frozen=True, slots=True)
class Limits:
    """How large chunks are, in one unit.

    A chunk has at most `room` (plus a joined trailing piece of the document or section, which is
    smaller than `least`, where `room_for_rest` allows it); neighbours share at least `overlap`.
    """

    room: int
    overlap: int
    least: int
    room_for_rest: int = 0


class Filler:
    """Cuts one text into spans that fit `limits`.

    `ruler` measures in the unit of `limits`. `fits(start, end)` has the last word where sizes do
    not simply add up: a span that it refuses is made smaller until it is accepted or one character
    long.
    """

    def __init__(
        self,
        text: str,
        ruler: Ruler,
        limits: Limits,
        fits: Callable[[int, int], bool] | None = None,
    ) -> None:
        self.text = text
        self.ruler = ruler
        self.limits = limits
        self.fits = fits

    def fill(self, blocks: list[Block]) -> list[Span]:
        """The spans of the text whose blocks these are, in order."""
        return [span for section in self._sections(blocks) for span in self._cut(section)]

    @cached_property
    def _sentence_starts(self) -> list[int]:
        return sentence_starts(self.text)

    def _sentences(self, least: int, limit: int) -> list[int]:
        """Where a sentence may begin, in `least..limit`, in order."""
        found = self._sentence_starts
        return found[bisect.bisect_left(found, least) : bisect.bisect_right(found, limit)]

    def _sections(self, blocks: list[Block]) -> list[Section]:
        sections: list[Section] = []
        current = Section([], [])
        path: list[tuple[int, str]] = []
        for block in blocks:
            if block.kind == "heading":
                only_headings = all(item.kind == "heading" for item in current.blocks)
                enough = self.limits.room // 3
                if not only_headings and self.ruler.size(current.start, block.start) >= enough:
                    sections.append(current)
                    current = Section([], [])
                path = [item for item in path if item[0] < block.level]
                path.append((block.level, block.title))
            current.blocks.append(block)
            current.paths.append(tuple(title for _, title in path if title))
        if current.blocks:
            sections.append(current)
        # A last section too short to stand alone joins the one before it.
        if (
            len(sections) > 1
            and self.ruler.size(sections[-1].start, sections[-1].end) < self.limits.least
        ):
            last, before = sections.pop(), sections.pop()
            sections.append(Section(before.blocks + last.blocks, before.paths + last.paths))
        return sections

    def _cut(self, section: Section) -> list[Span]:
        spans: list[Span] = []
        start, end = section.start, section.start
        while end < section.end:
            previous = end
            end, trimmed = self._fitting_end(section, start, previous)
            if trimmed <= previous and start < previous:
                # Nothing new fits beside the overlap, so there is none here.
                start, end = skip_blank(self.text, previous), previous
                continue
            spans.append(Span(start, trimmed, section.path_at(start)))
            if end < section.end:
                start = self._next_start(section, start, end)
        return spans

    def _fitting_end(self, section: Section, start: int, previous: int) -> tuple[int, int]:
        """Where the chunk from `start` is cut, and where its last visible character ends."""
        limit = self.ruler.reach(start, self.limits.room)
        floor = max(start, skip_blank(self.text, previous))
        if limit <= floor:
            if start < floor:
                return previous, previous
            limit = floor + 1  # one character at least, whatever its size
        while True:
            end = self._end(section, start, floor, limit)
            trimmed = start + len(self.text[start:end].rstrip())
            if self.fits is None or self.fits(start, trimmed):
                return end, trimmed
            if trimmed <= floor + 1:
                return (end, trimmed) if start == floor else (previous, previous)
            # A step or two, as sizes are close; a tenth less each time bounds the odd ones.
            limit = min(trimmed - 1, max(floor + 1, start + (trimmed - start) * 9 // 10))

    def _end(self, section: Section, start: int, floor: int, limit: int) -> int:
        if section.end <= limit:
            return section.end
        end = self._end_before_the_last(section, start, floor, limit)
        rest = self.ruler.size(skip_blank(self.text, end), section.end)
        room = self.limits.room + self.limits.room_for_rest
        joins = rest < self.limits.least and self.ruler.size(start, section.end) <= room
        # Where `fits` decides, nothing may grow beyond the limit it was given.
        return section.end if joins and self.fits is None else end

    def _end_before_the_last(self, section: Section, start: int, floor: int, limit: int) -> int:
        """Where a chunk that starts at `start` and cannot reach the section's end is cut.

        The chunk before it showed everything up to `floor`: this one shows more.
        """
        blocks, limits = section.blocks, self.limits
        filled = self.ruler.reach(start, max(limits.room // 2, limits.overlap + 1))
        least = min(max(filled, floor + 1), limit)
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
        return self._end_inside_a_block(section, floor, least, limit)

    def _end_inside_a_block(self, section: Section, floor: int, least: int, limit: int) -> int:
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
        cuts = self._sentences(least, limit)
        cuts = cuts or word_starts(self.text, least, limit)
        return cuts[-1] if cuts else character_cut(self.text, floor + 1, limit, limit)

    def _next_start(self, section: Section, start: int, end: int) -> int:
        """The next chunk's start: at least `overlap` before `end`, at a sentence if one is near."""
        text, blocks = self.text, section.blocks
        room, overlap = self.limits.room, self.limits.overlap
        inside = blocks[section.last_starting_by(end)]
        if self._is_kept_whole(inside) and start < inside.start < end < inside.end:
            return inside.start  # only a part of it fitted beside its headings: here all of it does
        wanted, following = self.ruler.last_showing(end, overlap), skip_blank(text, end)
        # Or it would show nothing new.
        least = max(start + 1, self.ruler.first_within(following + 1, room))
        kept = self._kept_whole_after(section, end)
        if overlap == 0 or (wanted < least and kept is None):
            return following
        begin = end
        if wanted >= least:
            reach = max(least, self.ruler.last_showing(end, overlap + overlap // 2))
            begin = (
                self._sentences(reach, wanted)
                or word_starts(text, reach, wanted)
                or [character_cut(text, least, wanted, end)]
            )[-1]
        if kept is not None and (wanted < least or self.ruler.size(begin, kept.end) > room):
            # As much of what leads up to the block as leaves the block whole.
            least = min(max(start + 1, self.ruler.first_within(kept.end, room)), end)
            begin = (self._sentences(least, end) or [end])[0]
        return skip_blank(text, begin)

    def _kept_whole_after(self, section: Section, end: int) -> Block | None:
        """The block that comes right after `end`, headings aside, if it should stay whole."""
        blocks = section.blocks
        index = bisect.bisect_left(blocks, end, key=lambda block: block.start)
        if index == len(blocks) or self.text[end : blocks[index].start].strip():
            return None
        while index + 1 < len(blocks) and blocks[index].kind == "heading":
            index += 1
        return blocks[index] if self._is_kept_whole(blocks[index]) else None

    def _is_kept_whole(self, block: Block) -> bool:
        return block.whole and self.ruler.size(block.start, block.end) <= self.limits.room
