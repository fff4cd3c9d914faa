"""Blocks that share chunks: what stands under one heading, or under several short ones."""

from __future__ import annotations

import bisect
from dataclasses import dataclass

from laya_index.chunk.blocks import Block


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks that share chunks; `paths` are the headings above each block, its own included."""

    blocks: list[Block]
    paths: list[tuple[str, ...]]

    @property
    def start(self) -> int:
        """Where the first block starts."""
        return self.blocks[0].start

    @property
    def end(self) -> int:
        """Where the last block ends."""
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
