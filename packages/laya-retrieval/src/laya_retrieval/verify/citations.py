"""Checks an answer's citations, quotes and numbers against the passages; no model takes part."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

from laya_signals.component import Component, ComponentConfig

from laya_retrieval.errors import VerificationError
from laya_retrieval.sentences import Span, split_sentences
from laya_retrieval.verify.base import Passage, PassageText, read_passages
from laya_retrieval.verify.brackets import find_citations
from laya_retrieval.verify.claims import find_claims
from laya_retrieval.verify.fold import fold
from laya_retrieval.verify.markup import blank_out, mask_markup
from laya_retrieval.verify.numbers import Number, agreement, find_numbers
from laya_retrieval.verify.quotes import find_quotes, look_up_quote
from laya_retrieval.verify.report import (
    CitationReport,
    ClaimReport,
    NumberCheck,
    Place,
    QuoteCheck,
    State,
)

__all__ = ["CitationConfig", "CitationVerifier", "verify_citations"]


class CitationConfig(ComponentConfig):
    """Settings of the citation verifier: which of the two comparisons to make."""

    quotes: bool = True
    numbers: bool = True


class CitationVerifier(Component[CitationConfig]):
    """Splits an answer into claims and reports what of each agrees with the passages, and where.

    >>> report = CitationVerifier().verify(
    ...     'Revenue was $1,200.00 [1]. The chair called it "a record" [2].',
    ...     ["Revenue was 1200.", "It was, he said, “a Record”."],
    ... )
    >>> [claim.cited for claim in report.claims]
    [(1,), (2,)]
    >>> report.claims[0].numbers[0].state, report.claims[1].quotes[0].state
    ('found', 'found')
    """

    Config = CitationConfig

    def verify(self, answer: str, passages: Sequence[Passage]) -> CitationReport:
        """The report; all offsets count characters of `answer` and of each passage's text.

        `[n]` cites `passages[n - 1]`. An empty answer has no claims. Raises `VerificationError`
        when the answer is no text or a passage is neither a candidate nor a text.
        """
        if not isinstance(answer, str):
            raise VerificationError(f"the answer is {type(answer).__name__}, expected a text")
        read = read_passages(passages)
        # Quotes are looked for first, since no claim may end inside one of them.
        rough = mask_markup(answer, split_sentences(answer))
        quotes = find_quotes(rough)
        sentences = split_sentences(answer, keep=quotes)
        masked = mask_markup(answer, sentences)
        claims = find_claims(masked, sentences)
        citations = find_citations(masked, len(read))
        numbers = find_numbers(blank_out(masked, (citation.span for citation in citations)))

        quote_places = _QuotePlaces(read if quotes and self.config.quotes else ())
        number_places = _NumberPlaces(read if numbers and self.config.numbers else ())
        own_citations = _by_claim(claims, citations, lambda item: item.span)
        own_quotes = _by_claim(claims, quotes if self.config.quotes else (), lambda item: item)
        own_numbers = _by_claim(
            claims, numbers if self.config.numbers else (), lambda item: item.span
        )
        reports = []
        for i, span in enumerate(claims):
            cited = {number for item in own_citations[i] for number in item.numbers}
            reports.append(
                ClaimReport(
                    span.of(answer),
                    span,
                    tuple(own_citations[i]),
                    tuple(quote_places.check(answer, item, cited) for item in own_quotes[i]),
                    tuple(number_places.check(item, cited) for item in own_numbers[i]),
                )
            )
        return CitationReport(tuple(reports), len(read))


def verify_citations(answer: str, passages: Sequence[Passage]) -> CitationReport:
    """`CitationVerifier().verify(answer, passages)`: the check with its default settings."""
    return CitationVerifier().verify(answer, passages)


T = TypeVar("T")


def _by_claim(
    claims: Sequence[Span], items: Iterable[T], span_of: Callable[[T], Span]
) -> list[list[T]]:
    """For each claim the items that begin in it; what begins in no claim is left out."""
    starts = [claim.start for claim in claims]
    grouped: list[list[T]] = [[] for _ in claims]
    for item in items:
        start = span_of(item).start
        i = bisect_right(starts, start) - 1
        if i >= 0 and start < claims[i].end:
            grouped[i].append(item)
    return grouped


class _QuotePlaces:
    """The folded passages; each is folded once, and only when there are quotes to look up."""

    def __init__(self, passages: Iterable[PassageText]) -> None:
        self.passages = [(passage, fold(passage.text)) for passage in passages]

    def check(self, answer: str, span: Span, cited: Collection[int]) -> QuoteCheck:
        quote = span.of(answer)
        folded_quote = fold(quote)
        places = tuple(
            Place(passage.number, passage.record_id, found)
            for passage, folded in self.passages
            for found in look_up_quote(folded_quote, folded)
        )
        return QuoteCheck(quote, span, _state(places, cited), places)


class _NumberPlaces:
    """The numbers of all passages, found by value or by form."""

    def __init__(self, passages: Iterable[PassageText]) -> None:
        self.index: dict[object, list[tuple[Place, Number, bool]]] = defaultdict(list)
        for passage in passages:
            for number in find_numbers(passage.text):
                self._add(passage, number, certain=True)
                for part in number.parts:
                    # A date surely names its year; a grouping is only perhaps two numbers.
                    self._add(passage, part, certain=number.kind == "date")

    def _add(self, passage: PassageText, number: Number, *, certain: bool) -> None:
        place = Place(passage.number, passage.record_id, number.span)
        for key in _keys(number):
            self.index[key].append((place, number, certain))

    def check(self, number: Number, cited: Collection[int]) -> NumberCheck:
        sure, doubtful = self._look_up(number)
        state, places = _state(sure, cited), sure
        in_cited = any(place.passage in cited for place in doubtful)
        if (state == "missing" and doubtful) or (state == "elsewhere" and in_cited):
            state, places = "unclear", doubtful
        if state == "missing" and (_has_other_forms(number) or self._falls_apart(number)):
            state = "unclear"
        return NumberCheck(number.text, number.span, number.readings, state, places)

    def _look_up(self, number: Number) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
        """Where the number stands for sure, and where only by a guess; both in order."""
        sure: set[Place] = set()
        doubtful: set[Place] = set()
        for key in _keys(number):
            for place, other, certain in self.index.get(key, ()):
                agreed = agreement(number, other)
                if agreed == "sure" and certain:
                    sure.add(place)
                elif agreed != "none":
                    doubtful.add(place)
        return _ordered(sure), _ordered(doubtful - sure)

    def _falls_apart(self, number: Number) -> bool:
        """Whether what looks like one number is two, each of them in a passage."""
        if number.kind != "number" or not number.parts:
            return False
        return all(self._look_up(part)[0] for part in number.parts)


def _has_other_forms(number: Number) -> bool:
    """Whether the same thing may be written so that this comparison cannot see it."""
    return number.kind in ("date", "time", "fraction") or not (
        number.readings or number.kind in ("version", "decade")
    )


def _keys(number: Number) -> list[object]:
    if number.kind != "number":
        return [(number.kind, number.form)]
    return [(number.unit, value) for value in {*number.readings, *number.doubtful}]


def _ordered(places: Iterable[Place]) -> tuple[Place, ...]:
    return tuple(sorted(places, key=lambda place: (place.passage, place.span)))


def _state(places: Sequence[Place], cited: Collection[int]) -> State:
    if not places:
        return "missing"
    if not cited or any(place.passage in cited for place in places):
        return "found"
    return "elsewhere"
