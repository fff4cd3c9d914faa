"""Chunks that an encoder reads whole: their size is counted by its own tokenizer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from laya_signals import (
    Component,
    ComponentConfig,
    ConfigError,
    EncodeError,
    Encoder,
    ProviderBlock,
    signals,
)
from laya_signals.passage import titled
from pydantic import Field

from laya_index.chunk.blocks import blocks_of
from laya_index.chunk.fill import Filler, Limits
from laya_index.chunk.ruler import TableRuler
from laya_index.document import RedactedDocument, Span
from laya_index.errors import ChunkError

# What tokens are counted of: a word after the blanks before it. Longer runs (ideographs, base64)
# are counted in pieces, so that a cut can be placed inside them.
_PIECE = re.compile(r"\s*\S{1,16}|\s+")
# A passage gets at least half of the tokens, however long the title.
_LEAST_SHARE = 2


class TokensChunkerConfig(ComponentConfig):
    """Settings of `chunker.tokens`, all in tokens of `encoder`.

    `max_tokens` is what the encoder reads in all: special tokens and the title that is put before
    a passage count too. By default it is all that the encoder can take. Inside a section,
    neighbouring chunks share about `overlap`. `reserve` tokens stay free for what else is put
    before a passage when it is encoded, such as headings by a context stage.
    """

    encoder: ProviderBlock = ProviderBlock(provider="encoder.mini")
    max_tokens: int | None = Field(default=None, ge=16)
    overlap: int = Field(default=64, ge=0)
    min_tokens: int = Field(default=16, ge=1)
    reserve: int = Field(default=0, ge=0)


class TokensChunker(Component[TokensChunkerConfig]):
    """Fills chunks like `chunker.paragraph`, but never beyond what the encoder takes.

    Every chunk is measured as it will be encoded (`titled`: the title, a line break, the
    passage) by the encoder's own tokenizer. Cuts fall where those of `ParagraphChunker` fall:
    between paragraphs, else sentences, else words, else characters. A combined character is cut
    only when it has more tokens than a chunk may have.

    A title of more than half of `max_tokens` cannot be made to fit: passages then have up to half
    of `max_tokens` beside it, and the encoder drops what exceeds its limit.

    Give an encoder that is built already as `encoder=`. Raises `ConfigError` when `max_tokens` is
    more than the encoder takes or leaves no room for `overlap`.
    """

    Config = TokensChunkerConfig

    def __init__(
        self,
        config: Mapping[str, Any] | ComponentConfig | None = None,
        /,
        *,
        encoder: Encoder | Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        if isinstance(encoder, Mapping):
            settings["encoder"], encoder = encoder, None
        super().__init__(config, **settings)
        self.encoder: Encoder = (
            encoder if encoder is not None else signals.resolve(self.config.encoder, Encoder)
        )
        most = self.encoder.max_tokens
        self.max_tokens: int = self.config.max_tokens or most
        if self.max_tokens > most:
            raise ConfigError(
                f"TokensChunker: max_tokens is {self.max_tokens}, but the encoder takes {most}"
            )
        for key in ("overlap", "min_tokens", "reserve"):
            value = getattr(self.config, key)
            if value > self.max_tokens // 4:
                raise ConfigError(
                    f"TokensChunker: {key} ({value}) may be at most a quarter of max_tokens "
                    f"({self.max_tokens})"
                )

    def fingerprint_extra(self) -> Any:
        """The encoder counts the tokens, and may have the last word on how many there are."""
        return [self.encoder.fingerprint, self.max_tokens]

    def chunk(self, document: RedactedDocument) -> list[Span]:
        """The spans of `document`, in order.

        Raises `ChunkError`, naming the document, for a text that the encoder refuses to count.
        """
        if not document.text.strip():
            return []
        try:
            return self._chunk(document)
        except EncodeError as error:
            raise ChunkError(f"{document.id}: its tokens cannot be counted: {error}") from error

    def _chunk(self, document: RedactedDocument) -> list[Span]:
        text, title = document.text, document.title
        empty, lead = self.encoder.count_tokens(["", f"{title}\n" if title else ""])
        free = self.max_tokens - self.config.reserve
        room = max(free - lead, free // _LEAST_SHARE)
        most = max(free, lead + room)

        def fits(start: int, end: int) -> bool:
            (tokens,) = self.encoder.count_tokens([titled(title, text[start:end])])
            return tokens <= most

        limits = Limits(room, self.config.overlap, self.config.min_tokens)
        filler = Filler(text, TableRuler(self._sizes(text, empty)), limits, fits)
        return filler.fill(blocks_of(text, document.media_type))

    def _sizes(self, text: str, empty: int) -> Sequence[int]:
        """About how many tokens `text[:i]` has, for every i up to `len(text)`; never falls.

        `empty` is what a text has without any content: its special tokens.
        """
        pieces = _PIECE.findall(text)
        distinct = list(dict.fromkeys(pieces))
        counts = self.encoder.count_tokens(distinct)
        tokens = {
            piece: max(count - empty, 0) for piece, count in zip(distinct, counts, strict=True)
        }
        ends = np.cumsum([0, *map(len, pieces)])
        totals = np.cumsum([0, *(tokens[piece] for piece in pieces)])
        # A piece's tokens are spread evenly over it.
        sizes: list[int] = np.interp(np.arange(len(text) + 1), ends, totals).astype(int).tolist()
        return sizes
