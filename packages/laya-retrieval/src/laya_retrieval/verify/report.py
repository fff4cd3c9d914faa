"""What a citation check reports: everything with offsets, so that a page can highlight it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from laya_retrieval.sentences import Span

__all__ = [
    "CAVEAT",
    "Citation",
    "CitationCounts",
    "CitationReport",
    "ClaimReport",
    "NumberCheck",
    "Place",
    "QuoteCheck",
    "State",
]

#: What every report says beside its findings.
CAVEAT = (
    "This check compares citation numbers, quoted words and numbers with the passages. It does not "
    "establish that a passage supports a claim, that a claim is true, or that the passages are."
)

#: "found": in a passage that the claim cites, or, when it cites none that exists, in any passage.
#: "elsewhere": only in passages that the claim does not cite. "unclear": comparing it would take a
#: guess (`1,234` against `1.234`). "missing": in no passage.
State = Literal["found", "elsewhere", "unclear", "missing"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: passage number from 1, its record id if it has one, and offsets."""

    passage: int
    record_id: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Citation:
    """One bracket in the answer, such as `[1, 3-4]`.

    `numbers` are the existing passages that it names, ascending, each once; `out_of_range` are its
    parts, as written, that name a passage which does not exist.
    """

    text: str
    span: Span
    numbers: tuple[int, ...]
    out_of_range: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuoteCheck:
    """Quoted words: `text` and `span` are what stands between the marks in the answer."""

    text: str
    span: Span
    state: State
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class NumberCheck:
    """A number in the answer, the values that it can be read as, and where one of them occurs.

    `readings` is empty for what is compared as written: dates, times, fractions, versions. With
    the state "unclear", `places` are where an equal value would depend on a guess.
    """

    text: str
    span: Span
    readings: tuple[Decimal, ...]
    state: State
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class ClaimReport:
    """One claim of the answer, a sentence, with everything in it that could be compared."""

    text: str
    span: Span
    citations: tuple[Citation, ...]
    quotes: tuple[QuoteCheck, ...]
    numbers: tuple[NumberCheck, ...]

    @property
    def cited(self) -> tuple[int, ...]:
        """The existing passages that the claim cites, ascending, each once."""
        return tuple(sorted({number for item in self.citations for number in item.numbers}))

    @property
    def uncited(self) -> bool:
        """Whether the claim has no citation at all, not even one out of range."""
        return not self.citations

    @property
    def out_of_range(self) -> bool:
        """Whether some citation of the claim names a passage that does not exist."""
        return any(item.out_of_range for item in self.citations)

    @property
    def checked(self) -> bool:
        """Whether the claim has a quote or a number that was compared with the passages."""
        states = [item.state for item in self.quotes] + [item.state for item in self.numbers]
        return any(state != "unclear" for state in states)


@dataclass(frozen=True, slots=True)
class CitationCounts:
    """How many of what. `claims` = `cited` + `uncited`; `unchecked` is independent of both.

    `cited` counts claims with any citation; `claims_out_of_range` those with one that names no
    passage; `unchecked` those without a quote or number that could be compared, so that nothing
    but their citation numbers was looked at. `citations` counts brackets.
    """

    claims: int
    cited: int
    uncited: int
    unchecked: int
    claims_out_of_range: int
    citations: int
    citations_out_of_range: int
    quotes: int
    quotes_found: int
    quotes_elsewhere: int
    quotes_missing: int
    numbers: int
    numbers_found: int
    numbers_elsewhere: int
    numbers_unclear: int
    numbers_missing: int


@dataclass(frozen=True, slots=True)
class CitationReport:
    """The report on one answer: its claims in order, the number of passages, and a caveat."""

    claims: tuple[ClaimReport, ...]
    passages: int
    caveat: str = CAVEAT

    @property
    def counts(self) -> CitationCounts:
        """The totals over all claims."""
        citations = [item for claim in self.claims for item in claim.citations]
        quotes = [item.state for claim in self.claims for item in claim.quotes]
        numbers = [item.state for claim in self.claims for item in claim.numbers]
        return CitationCounts(
            claims=len(self.claims),
            cited=_count(not claim.uncited for claim in self.claims),
            uncited=_count(claim.uncited for claim in self.claims),
            unchecked=_count(not claim.checked for claim in self.claims),
            claims_out_of_range=_count(claim.out_of_range for claim in self.claims),
            citations=len(citations),
            citations_out_of_range=_count(bool(item.out_of_range) for item in citations),
            quotes=len(quotes),
            quotes_found=quotes.count("found"),
            quotes_elsewhere=quotes.count("elsewhere"),
            quotes_missing=quotes.count("missing"),
            numbers=len(numbers),
            numbers_found=numbers.count("found"),
            numbers_elsewhere=numbers.count("elsewhere"),
            numbers_unclear=numbers.count("unclear"),
            numbers_missing=numbers.count("missing"),
        )


def _count(facts: Iterable[bool]) -> int:
    return sum(1 for fact in facts if fact)
