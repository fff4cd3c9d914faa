"""The default chunker: whole paragraphs, cut at sentences where one is too long."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from laya_signals import Component, ComponentConfig
from pydantic import Field, model_validator

from laya_index.chunk.blocks import blocks_of
from laya_index.chunk.fill import Filler, Limits
from laya_index.chunk.ruler import CharacterRuler
from laya_index.document import RedactedDocument, Span
from laya_index.errors import ChunkError

#: Between what and what `chars: auto` may choose.
AUTO_LEAST, AUTO_MOST = 1200, 2000


class ParagraphChunkerConfig(ComponentConfig):
    """Settings of `chunker.paragraph`, all in characters.

    A chunk has at most `chars` (plus a joined trailing piece shorter than `min_chars`); inside a
    section, neighbouring chunks share at least `overlap`. With `chars: auto` the corpus decides;
    see `ParagraphChunker.sized_for`.
    """

    chars: int | Literal["auto"] = 1200
    overlap: int = Field(default=400, ge=0)
    min_chars: int = Field(default=80, ge=1)

    @model_validator(mode="after")
    def _room_to_advance(self) -> ParagraphChunkerConfig:
        chars = AUTO_LEAST if self.chars == "auto" else self.chars
        if chars < 50:
            raise ValueError(f"chars must be at least 50, not {chars}")
        if self.overlap > chars // 2:
            raise ValueError(
                f"overlap ({self.overlap}) may be at most half of chars ({chars}), "
                "or a document would be indexed many times over"
            )
        if self.min_chars > chars // 2:
            raise ValueError(f"min_chars ({self.min_chars}) may be at most half of chars ({chars})")
        return self


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
    # 2: a line may start after any indent; a CJK end mark keeps the bracket that closes it.
    version = 2

    def sized_for(self, lengths: Iterable[int]) -> ParagraphChunker:
        """The same chunker with `chars: auto` replaced by what suits documents of these lengths.

        `lengths` are the characters of every document of the corpus, in any order. `chars` becomes
        their 90th percentile (nearest rank), clamped to [1200, 2000], so that most documents of a
        corpus of short ones are one chunk each. With `chars` a number, the chunker itself. Call
        this before anything asks for the fingerprint: another size gives other spans.
        """
        if self.config.chars != "auto":
            return self
        ordered = sorted(lengths)
        typical = ordered[(9 * len(ordered) + 9) // 10 - 1] if ordered else 0
        chars = min(max(typical, AUTO_LEAST), AUTO_MOST)
        return type(self)({**self.config.model_dump(), "chars": chars})

    def chunk(self, document: RedactedDocument) -> list[Span]:
        """The spans of `document`, in order.

        Raises `ChunkError` while `chars` is still `auto`.
        """
        chars, config = self.config.chars, self.config
        if chars == "auto":
            raise ChunkError(
                f"{document.id}: chars is auto, and nothing told the corpus's document lengths "
                "(call sized_for first)"
            )
        limits = Limits(chars, config.overlap, config.min_chars, room_for_rest=config.min_chars)
        filler = Filler(document.text, CharacterRuler(document.text), limits)
        return filler.fill(blocks_of(document.text, document.media_type))
