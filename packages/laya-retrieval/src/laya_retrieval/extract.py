"""Answers a query with sentences of the passages, word for word, or not at all; no model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from laya_signals.component import Component, ComponentConfig
from laya_signals.tokenize.base import Tokenizer
from pydantic import Field

from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import VerificationError
from laya_retrieval.sentences import Span, split_sentences
from laya_retrieval.verify.base import Passage, PassageText, read_passages
from laya_retrieval.verify.markup import mask_markup

__all__ = [
    "Abstention",
    "AnswerExtractor",
    "ExtractConfig",
    "ExtractedSentence",
    "Extraction",
    "extract_answer",
]

#: Why nothing was extracted: there were no passages, the query has no term to look for, or no
#: sentence covers enough of it.
Abstention = Literal["no_passages", "no_query_terms", "nothing_qualifies"]


class ExtractConfig(ComponentConfig):
    """Settings of the extractor.

    - `max_sentences`: how many sentences at most, ≥ 1.
    - `min_score`: the part of the query's terms, weighted by idf, that a sentence must hold to
      qualify, in (0, 1].
    - `coverage`: pick by what a sentence adds to those picked before instead of by score alone.
    """

    max_sentences: int = Field(default=3, ge=1)
    min_score: float = Field(default=0.5, gt=0.0, le=1.0)
    coverage: bool = False


@dataclass(frozen=True, slots=True)
class ExtractedSentence:
    """A sentence of a passage, verbatim: `text == passage_text[span.start:span.end]`.

    `passage` counts from 1, the n of `[n]`. `document_span` is the same place in the document,
    where the candidate's metadata says where its text begins. `score` is in [0, 1].
    """

    text: str
    passage: int
    record_id: str | None
    span: Span
    document_span: Span | None
    score: float


@dataclass(frozen=True, slots=True)
class Extraction:
    """The sentences in the order in which they were picked, or none and the reason why."""

    sentences: tuple[ExtractedSentence, ...]
    abstention: Abstention | None = None

    @property
    def text(self) -> str:
        """The sentences, each with its `[n]`; an empty text for an abstention."""
        return " ".join(f"{sentence.text} [{sentence.passage}]" for sentence in self.sentences)


class AnswerExtractor(Component[ExtractConfig]):
    """Picks the sentences that hold most of the query's terms, the rare ones counting most.

    The score of a sentence is the summed idf of the query's terms in it over the summed idf of all
    of them, with idf = ln(1 + (N − df + ½) / (df + ½)) over the N sentences given; a term that
    no passage has counts as one that occurs once, and so keeps the score down. English function
    words of the query are not looked for, unless it has no others.

    >>> extraction = AnswerExtractor().extract(
    ...     "Who discovered radium?",
    ...     ["Paris is old. Radium was discovered by Marie Curie.", "Bread needs salt."],
    ... )
    >>> extraction.text
    'Radium was discovered by Marie Curie. [1]'
    >>> AnswerExtractor().extract("Who discovered radium?", ["Bread needs salt."]).abstention
    'nothing_qualifies'

    `tokenizer` is any tokenizer of `laya_signals`; by default words, stemmed as English.
    """

    Config = ExtractConfig

    def __init__(
        self,
        config: Mapping[str, Any] | ComponentConfig | None = None,
        /,
        *,
        tokenizer: Tokenizer | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(config, **settings)
        self._tokenizer = tokenizer

    def fingerprint_extra(self) -> Any:
        """The tokenizer's fingerprint."""
        return (self._tokenizer or _default_tokenizer()).fingerprint

    def extract(self, query: str, passages: Sequence[Passage]) -> Extraction:
        """Up to `max_sentences` sentences, or an abstention.

        A sentence that occurs in several passages is taken from the first of them. Raises
        `VerificationError` when the query is no text or a passage is neither candidate nor text.
        """
        if not isinstance(query, str):
            raise VerificationError(f"the query is {type(query).__name__}, expected a text")
        read = read_passages(passages)
        if not read:
            return Extraction((), "no_passages")
        tokenizer = self._tokenizer or _default_tokenizer()
        function_words = frozenset(tokenizer.tokenize(_FUNCTION_WORDS))
        terms = set(tokenizer.tokenize(query))
        terms = terms - function_words or terms
        if not terms:
            return Extraction((), "no_query_terms")

        pool = [sentence for passage in read for sentence in _sentences(passage, tokenizer)]
        idf = _idf(pool)
        # As rare as a term can be and still occur: with df = 0 one odd word outweighs all others.
        unseen = math.log1p(max(len(pool) - 0.5, 0.5) / 1.5)
        total = sum(idf.get(term, unseen) for term in sorted(terms))
        scores = [sum(idf[term] for term in sorted(terms & item.terms)) / total for item in pool]
        qualified = [
            (score, item)
            for score, item in zip(scores, pool, strict=True)
            if score >= self.config.min_score - 1e-9
        ]
        if not qualified:
            return Extraction((), "nothing_qualifies")
        qualified.sort(key=lambda pair: -pair[0])  # stable: ties stay in reading order
        picked = self._pick(_without_repeats(qualified), idf, function_words)
        return Extraction(tuple(_report(score, item, passages) for score, item in picked))

    def _pick(
        self,
        qualified: list[tuple[float, _Sentence]],
        idf: Mapping[str, float],
        function_words: frozenset[str],
    ) -> list[tuple[float, _Sentence]]:
        if not self.config.coverage:
            return qualified[: self.config.max_sentences]
        picked: list[tuple[float, _Sentence]] = []
        known: set[str] = set()
        while qualified and len(picked) < self.config.max_sentences:
            news = [_news(item.terms - function_words, known, idf) for _, item in qualified]
            gains = [
                score * new if new >= _LEAST_NEWS else 0.0
                for (score, _), new in zip(qualified, news, strict=True)
            ]
            best = max(range(len(gains)), key=lambda i: (gains[i], -i))
            if gains[best] <= 0.0:
                break
            picked.append(qualified.pop(best))
            known |= picked[-1][1].terms
        return picked


def extract_answer(
    query: str,
    passages: Sequence[Passage],
    *,
    max_sentences: int = 3,
    min_score: float = 0.5,
    coverage: bool = False,
    tokenizer: Tokenizer | None = None,
) -> Extraction:
    """Answer `query` with sentences of `passages`; `AnswerExtractor` says how they are chosen."""
    extractor = AnswerExtractor(
        max_sentences=max_sentences, min_score=min_score, coverage=coverage, tokenizer=tokenizer
    )
    return extractor.extract(query, passages)


# With `coverage`, the share of a sentence's terms, weighted by idf, that must be new.
_LEAST_NEWS = 0.3

_FUNCTION_WORDS = """a an the this that these those of in on at by for from to into with without
about as is are was were be been being am do does did done has have had having can could may might
must shall should will would and or but not no nor if then than so such it its he she they them
his her their we us our you your i me my who whom whose what which when where why how there here
much many tell give show please"""

# A list marker or quotation sign at the head of a sentence is layout, not part of it.
_LAYOUT = re.compile(r"(?:>[ \t]*)*(?:(?:[-*+•‣◦·–]|\(?\d{1,3}[.)])[ \t]+(?=\S))?")


@dataclass(frozen=True, slots=True)
class _Sentence:
    passage: PassageText
    span: Span
    terms: frozenset[str]

    @property
    def text(self) -> str:
        return self.span.of(self.passage.text)


def _sentences(passage: PassageText, tokenizer: Tokenizer) -> list[_Sentence]:
    """The prose sentences of a passage that hold any term; link targets and code give none."""
    split = split_sentences(passage.text)
    masked = mask_markup(passage.text, split)
    found = []
    for sentence in split:
        if sentence.kind != "prose":
            continue
        layout = _LAYOUT.match(passage.text, sentence.span.start, sentence.span.end)
        span = Span(layout.end() if layout else sentence.span.start, sentence.span.end)
        terms = frozenset(tokenizer.tokenize(span.of(masked)))
        if terms:
            found.append(_Sentence(passage, span, terms))
    return found


def _idf(pool: Sequence[_Sentence]) -> dict[str, float]:
    frequencies = Counter(term for item in pool for term in item.terms)
    n = len(pool)
    return {
        term: math.log1p((n - count + 0.5) / (count + 0.5)) for term, count in frequencies.items()
    }


def _without_repeats(ranked: list[tuple[float, _Sentence]]) -> list[tuple[float, _Sentence]]:
    """The first of the sentences that are equal but for case and white space."""
    first: dict[str, tuple[float, _Sentence]] = {}
    for score, item in ranked:
        first.setdefault(" ".join(item.text.casefold().split()), (score, item))
    return list(first.values())


def _news(terms: frozenset[str], known: set[str], idf: Mapping[str, float]) -> float:
    """The share of a sentence's terms, weighted by idf, that no picked sentence has."""
    total = sum(idf[term] for term in sorted(terms))
    return sum(idf[term] for term in sorted(terms - known)) / total if total else 0.0


def _report(score: float, item: _Sentence, passages: Sequence[Passage]) -> ExtractedSentence:
    passage = item.passage
    return ExtractedSentence(
        text=item.text,
        passage=passage.number,
        record_id=passage.record_id,
        span=item.span,
        document_span=_document_span(passages[passage.number - 1], item.span),
        score=min(1.0, score),
    )


def _document_span(passage: Passage, span: Span) -> Span | None:
    """The span counted from the start of the document, when the passage's offsets fit its text."""
    if not isinstance(passage, Candidate):
        return None
    start, end = passage.metadata.get("start"), passage.metadata.get("end")
    if not isinstance(start, int) or isinstance(start, bool):
        return None
    if end is not None and end != start + len(passage.text):
        return None
    return Span(start + span.start, start + span.end)


@cache
def _default_tokenizer() -> Tokenizer:
    # Imported here: only those who extract pay for the stemmer.
    from laya_signals.tokenize.word import WordTokenizer

    return WordTokenizer(stem="english")
