"""What a check of a bundle has found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

#: What can be wrong with a file: it is not there, has another length or another SHA-256 than the
#: manifest says, is no Parquet file or lacks rows, the manifest's totals disagree with the rows,
#: or the manifest does not know it.
Problem = Literal["missing", "size", "hash", "unreadable", "rows", "totals", "stray"]


@dataclass(frozen=True, slots=True, order=True)
class FileProblem:
    """A file of the bundle's folder and what is wrong with it."""

    path: str
    problem: Problem
    detail: str


@dataclass(frozen=True, slots=True)
class Drift:
    """How the source differs from what the bundle was built from.

    `deleted` maps documents that the source no longer yields to why it skips them, "" where they
    are gone. `outdated_skips` are ids whose recorded skip was decided on another version, or of
    which none is recorded; a run settles them, whatever it decides. `settled_skips` counts the
    others: they are not stale. `excluded` counts documents that were deleted from the bundle and
    that the source still has.
    """

    settings_changed: bool
    deleted: dict[str, str]
    changed: tuple[str, ...]
    added: tuple[str, ...]
    outdated_skips: tuple[str, ...]
    settled_skips: int
    excluded: int

    @property
    def stale(self) -> bool:
        """Whether building again would give another bundle."""
        return self.settings_changed or bool(
            self.deleted or self.changed or self.added or self.outdated_skips
        )


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Two documents and the Jaccard similarity of their shingles, in `threshold`..1."""

    first: str
    second: str
    similarity: float


@dataclass(frozen=True, slots=True)
class NearScan:
    """Near duplicates, most similar first; `truncated` when there were more than `limit` pairs.

    `compared` pairs of documents were compared exactly.
    """

    threshold: float
    limit: int
    compared: int
    truncated: bool
    pairs: tuple[NearDuplicate, ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """A document whose id or uri holds personal data of these kinds; ids are not redacted."""

    document: str
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IntegrityReport:
    """What a check found; `unchecked` says by name what was not looked at, and why.

    `files` and `drift` are problems; `duplicates` (documents with the same words, by group),
    `near` and `identities` are remarks. What is None is among `unchecked`.
    """

    bundle: Path
    stack: str
    documents: int
    chunks: int
    bytes: int
    files: tuple[FileProblem, ...]
    drift: Drift | None
    duplicates: tuple[tuple[str, ...], ...] | None
    near: NearScan | None
    identities: tuple[Identity, ...] | None
    unchecked: dict[str, str]

    @property
    def sound(self) -> bool:
        """Whether no file is damaged and nothing is stale, as far as it was checked."""
        return not self.files and (self.drift is None or not self.drift.stale)

    @property
    def remarkable(self) -> bool:
        """Whether something is there twice, or an id holds personal data."""
        return bool(self.duplicates or self.identities or (self.near and self.near.pairs))

    def as_json(self) -> dict[str, Any]:
        """The report as plain data; these keys stay."""
        return {
            **asdict(self),
            "bundle": str(self.bundle),
            "sound": self.sound,
            "remarkable": self.remarkable,
            "drift": None
            if self.drift is None
            else {**asdict(self.drift), "stale": self.drift.stale},
        }
