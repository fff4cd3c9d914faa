"""What the engine answers with; `to_json` is the schema that every face shares.

All of it is deterministic but `seconds`: the same question to the same corpus with the same
settings gives the same bytes. `docs/engine.md` lists the keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from laya_retrieval.extract import ExtractedSentence
from laya_retrieval.gate.adjudicate import Support
from laya_retrieval.gate.verdict import Verdict
from laya_retrieval.process.group import DocumentGroup, document_of
from laya_retrieval.process.pack import PackResult
from laya_retrieval.sentences import Span
from laya_retrieval.verify.injection import InjectionFlag
from laya_retrieval.verify.report import (
    Citation,
    CitationReport,
    NumberCheck,
    Place,
    QuoteCheck,
)

from laya_rag.engine.corpus import SCHEMA_VERSION, CorpusIdentity
from laya_rag.engine.passage import Passage, relevance_of
from laya_rag.engine.second import EvidenceFunnel

#: What every adjudication says beside its findings.
ADJUDICATION_CAVEAT = (
    "A model read the passages that a search found for each claim. It does not establish that a "
    "claim is true or false, and a claim that was not measured is neither."
)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best passages of every leg, fused."""

    query: str
    corpus: CorpusIdentity
    #: Best first, at most `search.keep`.
    passages: tuple[Passage, ...]
    #: How many distinct passages the legs found.
    found: int
    #: The legs that ran, and the weight of each.
    weights: Mapping[str, float]
    #: What a second search looked for, with `search.iterate`.
    probes: tuple[str, ...]
    #: Sixteen hex digits over every setting and component that decides the result.
    configuration: str
    models: Mapping[str, str]
    seconds: Mapping[str, float] = field(compare=False)

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for JSON; never NaN."""
        return {
            "version": SCHEMA_VERSION,
            "query": self.query,
            "bundle": self.corpus.to_json(),
            "legs": list(self.weights),
            "weights": dict(self.weights),
            "probes": list(self.probes),
            "found": self.found,
            "results": [passage.to_json() for passage in self.passages],
            "configuration": self.configuration,
            "models": dict(self.models),
            "seconds": rounded(self.seconds),
        }


@dataclass(frozen=True, slots=True)
class AskResult:
    """The evidence for a question, and whether it answers it."""

    query: str
    corpus: CorpusIdentity
    verdict: Verdict
    #: Best first, numbered as `[n]` cites them; with a budget, what was packed.
    evidence: tuple[Passage, ...]
    #: The same by document, at the place of its best passage.
    documents: tuple[DocumentGroup, ...]
    #: How the evidence was packed; None without a budget.
    packed: PackResult | None
    funnel: EvidenceFunnel
    #: Places where a passage addresses the model that reads it.
    flags: tuple[InjectionFlag, ...]
    weights: Mapping[str, float]
    probes: tuple[str, ...]
    configuration: str
    models: Mapping[str, str]
    seconds: Mapping[str, float] = field(compare=False)

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for JSON; never NaN."""
        return {
            "version": SCHEMA_VERSION,
            "query": self.query,
            "bundle": self.corpus.to_json(),
            "verdict": verdict_json(self.verdict),
            "funnel": asdict(self.funnel),
            "legs": list(self.weights),
            "weights": dict(self.weights),
            "probes": list(self.probes),
            "evidence": [passage.to_json() for passage in self.evidence],
            "documents": [_group_json(group, self.evidence) for group in self.documents],
            "packed": None if self.packed is None else _packed_json(self.packed),
            "dropped": [
                {"record_id": candidate.id, "relevance": relevance_of(candidate)}
                for candidate in self.verdict.dropped
            ],
            "flags": [flag_json(flag) for flag in self.flags],
            "configuration": self.configuration,
            "models": dict(self.models),
            "seconds": rounded(self.seconds),
        }


@dataclass(frozen=True, slots=True)
class ExtractResult:
    """Sentences of the evidence, word for word, or the reason why there are none."""

    #: What the sentences were taken from.
    asked: AskResult
    sentences: tuple[ExtractedSentence, ...]
    #: `not_answerable` where the gate's verdict is no; else see `laya_retrieval.extract`.
    abstention: str | None
    #: As in `AskResult`, and over how sentences are chosen.
    configuration: str
    seconds: Mapping[str, float] = field(compare=False)

    @property
    def text(self) -> str:
        """The sentences, each with its `[n]`; empty for an abstention."""
        return " ".join(f"{sentence.text} [{sentence.passage}]" for sentence in self.sentences)

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for JSON; never NaN."""
        asked = self.asked.to_json()
        return {
            **{key: asked.pop(key) for key in ("version", "query", "bundle")},
            "text": self.text,
            "abstention": self.abstention,
            "sentences": [_sentence_json(sentence) for sentence in self.sentences],
            **asked,
            "configuration": self.configuration,
            "seconds": rounded(self.seconds),
        }


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """What in an answer agrees with the passages that it was written from."""

    report: CitationReport
    #: The passages by their number, with the record id where they have one.
    passages: tuple[str | None, ...]
    flags: tuple[InjectionFlag, ...]
    #: The corpus that the passages came from; None for passages that were given.
    corpus: CorpusIdentity | None = None
    #: What was asked for the passages, if that is where they came from.
    asked: AskResult | None = None
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for JSON; never NaN."""
        return {
            "version": SCHEMA_VERSION,
            "query": None if self.asked is None else self.asked.query,
            "bundle": None if self.corpus is None else self.corpus.to_json(),
            "verdict": None if self.asked is None else verdict_json(self.asked.verdict),
            "counts": asdict(self.report.counts),
            "claims": [
                {
                    "text": claim.text,
                    **span_json(claim.span),
                    "cited": list(claim.cited),
                    "uncited": claim.uncited,
                    "out_of_range": claim.out_of_range,
                    "checked": claim.checked,
                    "citations": [_citation_json(item) for item in claim.citations],
                    "quotes": [_check_json(item) for item in claim.quotes],
                    "numbers": [
                        {**_check_json(item), "readings": [str(number) for number in item.readings]}
                        for item in claim.numbers
                    ],
                }
                for claim in self.report.claims
            ],
            "passages": [
                {"passage": number, "record_id": record_id}
                for number, record_id in enumerate(self.passages, start=1)
            ],
            "flags": [flag_json(flag) for flag in self.flags],
            "caveat": self.report.caveat,
            "seconds": rounded(self.seconds),
        }


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim of the answer, what the gate says about it, and the passages that this rests on."""

    text: str
    #: Where it stands in the answer.
    span: Span
    #: What was searched for: the claim without its citations.
    query: str
    support: Support
    #: Probability that the passages support it; None when not measured.
    probability: float | None
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class AdjudicateResult:
    """Each claim of an answer against the corpus."""

    corpus: CorpusIdentity
    claims: tuple[JudgedClaim, ...]
    threshold: float
    configuration: str
    models: Mapping[str, str]
    seconds: Mapping[str, float] = field(compare=False)
    caveat: str = ADJUDICATION_CAVEAT

    @property
    def counts(self) -> dict[str, int]:
        """How many claims there are of each kind."""
        found = {support.value: 0 for support in Support}
        for claim in self.claims:
            found[claim.support.value] += 1
        return {"claims": len(self.claims), **found}

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for JSON; never NaN."""
        return {
            "version": SCHEMA_VERSION,
            "bundle": self.corpus.to_json(),
            "counts": self.counts,
            "threshold": self.threshold,
            "claims": [
                {
                    "text": claim.text,
                    **span_json(claim.span),
                    "query": claim.query,
                    "support": claim.support.value,
                    "probability": claim.probability,
                    "passages": [passage.to_json() for passage in claim.passages],
                }
                for claim in self.claims
            ],
            "caveat": self.caveat,
            "configuration": self.configuration,
            "models": dict(self.models),
            "seconds": rounded(self.seconds),
        }


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict without its candidates."""
    return {
        "state": verdict.state.value,
        "answerable": verdict.answerable,
        "answerability": verdict.answerability,
        "answerability_threshold": verdict.answerability_threshold,
        "relevance_threshold": verdict.relevance_threshold,
        "model": verdict.model_fingerprint,
        "questions": [dict(question) for question in verdict.questions],
    }


def flag_json(flag: InjectionFlag) -> dict[str, Any]:
    """A place in a passage that addresses its reader."""
    return {
        "rule": flag.rule,
        "passage": flag.passage,
        "record_id": flag.record_id,
        **span_json(flag.span),
        "text": flag.text,
    }


def span_json(span: Span) -> dict[str, int]:
    """Characters, half-open."""
    return {"start": span.start, "end": span.end}


def rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    """Seconds by stage, to a tenth of a millisecond."""
    return {name: round(value, 4) for name, value in seconds.items()}


def _group_json(group: DocumentGroup, evidence: Sequence[Passage]) -> dict[str, Any]:
    own = [p for p in evidence if document_of(p.candidate) == group.document_id]
    return {
        "document_id": group.document_id,
        "title": own[0].candidate.metadata["title"],
        "score": group.score,
        "passages": [passage.rank for passage in own],
        "text": group.text,
    }


def _packed_json(packed: PackResult) -> dict[str, Any]:
    return {
        "budget": packed.budget,
        "tokens": packed.tokens,
        "method": packed.method,
        "skipped": [
            {"record_id": item.candidate.id, "reason": item.reason, "tokens": item.tokens}
            for item in packed.skipped
        ],
    }


def _sentence_json(sentence: ExtractedSentence) -> dict[str, Any]:
    place = sentence.document_span
    return {
        "text": sentence.text,
        "passage": sentence.passage,
        "record_id": sentence.record_id,
        **span_json(sentence.span),
        "document_start": None if place is None else place.start,
        "document_end": None if place is None else place.end,
        "score": sentence.score,
    }


def _citation_json(citation: Citation) -> dict[str, Any]:
    return {
        "text": citation.text,
        **span_json(citation.span),
        "numbers": list(citation.numbers),
        "out_of_range": list(citation.out_of_range),
    }


def _check_json(check: QuoteCheck | NumberCheck) -> dict[str, Any]:
    return {
        "text": check.text,
        **span_json(check.span),
        "state": check.state,
        "places": [_place_json(place) for place in check.places],
    }


def _place_json(place: Place) -> dict[str, Any]:
    return {"passage": place.passage, "record_id": place.record_id, **span_json(place.span)}
