"""What an entity is called, wherever and however it is written."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

NAME = "name"
ACRONYM = "acronym"
CODE = "code"
LINK = "link"

#: Types whose spelling is exact; any other is compared without case.
_EXACT = frozenset({ACRONYM, CODE, LINK})


@dataclass(frozen=True, slots=True)
class Mention:
    """`text[start:end]` speaks of the entity `name` of this type.

    `confidence` in (0, 1] is how sure the extractor is. `expansion` is the long form that the text
    itself gives for an acronym, in which case both are one entity of type `NAME`. A `LINK` may be
    relative to the document.
    """

    start: int
    end: int
    type: str
    name: str
    confidence: float
    expansion: str | None = None


@runtime_checkable
class EntityExtractor(Protocol):
    """A redacted text to the mentions of entities in it, in any order; they may overlap."""

    @property
    def fingerprint(self) -> str:
        """Hex digits that change whenever the same text may give other mentions."""
        ...

    def find(self, text: str) -> Sequence[Mention]:
        """The mentions in `text`, a whole document."""
        ...


def canonical_key(kind: str, name: str) -> str:
    """The form that all spellings of an entity share: NFC, single spaces, and no case for names."""
    key = " ".join(unicodedata.normalize("NFC", name).split())
    return key if kind in _EXACT else unicodedata.normalize("NFC", key.casefold())


def node_id(kind: str, key: str) -> str:
    """Sixteen hex digits of the SHA-256 of type and canonical key.

    >>> node_id("name", canonical_key("name", "Ada  Lovelace"))
    'da4e605aad51813b'
    """
    return hashlib.sha256(f"{kind}\n{key}".encode()).hexdigest()[:16]
