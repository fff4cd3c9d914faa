"""The results of every tool: as data with a schema, and as text that an agent reads.

Numbers are finite, so that no NaN is ever written. Text of the corpus stands in `readable` inside a
fence; as data it is inside JSON strings, beside a `notice` and with `suspicious` on each passage.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from laya_index.process import RunReport
from laya_retrieval.candidate import Candidate
from laya_retrieval.process.group import document_of
from pydantic import BaseModel, ConfigDict, Field

from laya_rag.backend.base import DocumentRow
from laya_rag.engine import Passage as Found
from laya_rag.engine.passage import relevance_of
from laya_rag.engine.result import AdjudicateResult, AskResult, ExtractResult, VerifyResult
from laya_rag.fence import NOTICE, Fenced, fenced, flags_of

_SNIPPET = 240


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ToolResult(_Part, ABC):
    """Base of the results."""

    @abstractmethod
    def readable(self) -> str:
        """The result as text."""


class Passage(_Part):
    """A passage, or with `cut` how it begins. `n` is the number that cites it, `[n]`."""

    n: int
    record_id: str
    document_id: str
    title: str
    headings: list[str]
    ordinal: int | None
    score: float | None
    relevance: float | None = Field(description="Probability that it is relevant; null: not read.")
    suspicious: list[str] = Field(description="Rules by which it seems to address its reader.")
    cut: bool
    text: str

    @classmethod
    def of(cls, n: int, candidate: Candidate, *, scored: bool, brief: bool = False) -> Passage:
        """A candidate as the passage `n`; a plain backend's may lack any metadata."""
        metadata = candidate.metadata
        title, headings = _text(metadata.get("title")), _texts(metadata.get("heading_path"))
        ordinal = metadata.get("ordinal")
        text = _excerpt(candidate.text) if brief else candidate.text
        return cls(
            n=n,
            record_id=candidate.id,
            document_id=document_of(candidate),
            title=title,
            headings=headings,
            ordinal=ordinal if isinstance(ordinal, int) else None,
            score=float(candidate.score) if scored else None,
            relevance=relevance_of(candidate),
            suspicious=flags_of(candidate.text, title, *headings),
            cut=text != candidate.text,
            text=text,
        )

    def fenced(self, label: str = "") -> Fenced:
        """As it is shown."""
        relevance = "" if self.relevance is None else f" relevance {self.relevance:.2f}."
        origin = {
            "record_id": self.record_id,
            "document_id": self.document_id,
            "title": self.title,
            "headings": self.headings,
        }
        return Fenced(label or f"[{self.n}]{relevance}", origin, self.text, self.suspicious)


class SearchOutput(ToolResult):
    """`search` and `more_like_this`; `found` is how many there were before the cut."""

    notice: str
    found: int
    legs: list[str]
    hits: list[Passage]

    @classmethod
    def of(cls, candidates: Sequence[Candidate], found: int, legs: Sequence[str]) -> SearchOutput:
        """Hits in this order."""
        hits = [
            Passage.of(n, item, scored=True, brief=True) for n, item in enumerate(candidates, 1)
        ]
        return cls(notice=NOTICE, found=found, legs=list(legs), hits=hits)

    def readable(self) -> str:
        """The hits, fenced."""
        if not self.hits:
            return "Nothing was found. Try other words, or say that there is nothing."
        head = f"{len(self.hits)} of {self.found} hits, best first. Read one with get_context."
        return f"{head}\n\n{fenced([hit.fenced() for hit in self.hits])}"


class ContextOutput(ToolResult):
    """`get_context`: passages of one document in reading order, `record_id` among them."""

    notice: str
    record_id: str
    document_id: str
    complete: bool = Field(description="False where the store cannot list neighbours surely.")
    passages: list[Passage]

    @classmethod
    def of(
        cls, record: Candidate, neighbours: Sequence[Candidate], *, complete: bool
    ) -> ContextOutput:
        """The record and its neighbours."""
        passages = [Passage.of(n, item, scored=False) for n, item in enumerate(neighbours, 1)]
        return cls(
            notice=NOTICE,
            record_id=record.id,
            document_id=document_of(record),
            complete=complete,
            passages=passages,
        )

    def readable(self) -> str:
        """The passages, fenced; the one that was asked for is marked."""
        shown = [
            passage.fenced(f"[{passage.n}] (the passage asked for)")
            if passage.record_id == self.record_id
            else passage.fenced()
            for passage in self.passages
        ]
        return f"In reading order.\n\n{fenced(shown)}"


class EvidenceOutput(ToolResult):
    """`search_evidence`."""

    notice: str
    answerable: bool | None = Field(description="False: abstain. Null: nothing was measured.")
    probability: float | None
    threshold: float
    state: str
    advice: str
    passages: list[Passage]
    dropped: int
    configuration: str

    @classmethod
    def of(cls, asked: AskResult) -> EvidenceOutput:
        """The engine's evidence."""
        verdict = asked.verdict
        return cls(
            notice=NOTICE,
            answerable=verdict.answerable,
            probability=verdict.answerability,
            threshold=verdict.answerability_threshold,
            state=verdict.state.value,
            advice=_advice(verdict.answerable, len(asked.evidence)),
            passages=_passages(asked.evidence),
            dropped=len(verdict.dropped),
            configuration=asked.configuration,
        )

    def readable(self) -> str:
        """The verdict first, then the passages, fenced."""
        measured = "not measured" if self.probability is None else f"{self.probability:.3f}"
        head = (
            f"answerable: {_said(self.answerable)} (probability {measured}, "
            f"threshold {self.threshold:g}). {self.advice}"
        )
        return _with_passages(head, self.passages)


class Sentence(_Part):
    """A sentence of passage `n`, word for word; characters `start` to `end` of it."""

    n: int
    record_id: str
    start: int
    end: int
    text: str


class ExtractOutput(ToolResult):
    """`extract_answer`."""

    notice: str
    answerable: bool | None
    probability: float | None
    abstention: str | None = Field(description="Why there is no sentence; null if there is one.")
    sentences: list[Sentence]
    passages: list[Passage]

    @classmethod
    def of(cls, result: ExtractResult) -> ExtractOutput:
        """The engine's sentences."""
        verdict = result.asked.verdict
        return cls(
            notice=NOTICE,
            answerable=verdict.answerable,
            probability=verdict.answerability,
            abstention=result.abstention,
            sentences=[
                Sentence(
                    n=item.passage,
                    record_id=item.record_id,
                    start=item.span.start,
                    end=item.span.end,
                    text=item.text,
                )
                for item in result.sentences
            ],
            passages=_passages(result.asked.evidence),
        )

    def readable(self) -> str:
        """The sentences, fenced like passages, or why there are none."""
        if self.abstention is not None:
            return f"No sentence answers this ({self.abstention}): abstain."
        own = {passage.n: passage for passage in self.passages}
        shown = [
            Fenced(f"[{item.n}]", {"record_id": item.record_id}, item.text, own[item.n].suspicious)
            for item in self.sentences
        ]
        return f"Word for word.\n\n{fenced(shown)}"


class Check(_Part):
    """A quotation or number of the answer, and whether a cited passage has it."""

    text: str
    state: str


class CheckedClaim(_Part):
    """A sentence of the answer."""

    text: str
    cited: list[int]
    uncited: bool
    out_of_range: bool
    quotes: list[Check]
    numbers: list[Check]


class VerifyOutput(ToolResult):
    """`verify_answer`."""

    counts: dict[str, int]
    claims: list[CheckedClaim]
    records: list[str | None]
    answerable: bool | None
    suspicious: list[str]
    caveat: str

    @classmethod
    def of(cls, result: VerifyResult) -> VerifyOutput:
        """The engine's report."""
        report = result.to_json()
        return cls(
            counts=report["counts"],
            claims=[
                CheckedClaim(
                    text=claim.text,
                    cited=list(claim.cited),
                    uncited=claim.uncited,
                    out_of_range=claim.out_of_range,
                    quotes=[Check(text=item.text, state=item.state) for item in claim.quotes],
                    numbers=[Check(text=item.text, state=item.state) for item in claim.numbers],
                )
                for claim in result.report.claims
            ],
            records=list(result.passages),
            answerable=None if result.asked is None else result.asked.verdict.answerable,
            suspicious=sorted({flag.rule for flag in result.flags}),
            caveat=result.report.caveat,
        )

    def readable(self) -> str:
        """What does not hold, claim by claim."""
        lines = [", ".join(f"{count} {name}" for name, count in self.counts.items() if count)]
        for number, claim in enumerate(self.claims, start=1):
            wrong = [f"{c.text!r} {c.state}" for c in claim.quotes + claim.numbers]
            wrong = [
                *(["no citation"] if claim.uncited else []),
                *(["cites a passage that does not exist"] if claim.out_of_range else []),
                *wrong,
            ]
            cited = "".join(f"[{n}]" for n in claim.cited)
            lines.append(f"claim {number} {cited}: {'; '.join(wrong) or 'nothing to compare'}")
        if self.suspicious:
            lines.append(f"SUSPICIOUS passages: {', '.join(self.suspicious)}")
        return "\n".join([*lines, self.caveat])


class JudgedClaim(_Part):
    """A sentence of the answer, and what the collection says about it."""

    text: str
    support: str
    probability: float | None
    records: list[str]


class AdjudicateOutput(ToolResult):
    """`adjudicate_answer`."""

    counts: dict[str, int]
    threshold: float
    claims: list[JudgedClaim]
    caveat: str

    @classmethod
    def of(cls, result: AdjudicateResult) -> AdjudicateOutput:
        """The engine's judgements."""
        return cls(
            counts=result.counts,
            threshold=result.threshold,
            claims=[
                JudgedClaim(
                    text=claim.text,
                    support=claim.support.value,
                    probability=claim.probability,
                    records=[passage.candidate.id for passage in claim.passages],
                )
                for claim in result.claims
            ],
            caveat=result.caveat,
        )

    def readable(self) -> str:
        """A line for each claim."""
        lines = []
        for number, claim in enumerate(self.claims, start=1):
            at = "" if claim.probability is None else f" ({claim.probability:.3f})"
            lines.append(f"claim {number}: {claim.support.replace('_', ' ')}{at}: {claim.text!r}")
        return "\n".join([*lines, self.caveat])


class Source(_Part):
    """The documents whose ids begin alike, up to the first slash; `.` for ids without one."""

    name: str
    documents: int
    passages: int


class SourcesOutput(ToolResult):
    """`list_sources`; `after` asks for the next page, null on the last."""

    sources: list[Source]
    after: str | None

    def readable(self) -> str:
        """The sources, fenced: their names come from the corpus."""
        shown = [source.model_dump(mode="json") for source in self.sources]
        return _listed(shown, self.after)


class Document(_Part):
    """A document of a listing."""

    document_id: str
    title: str
    uri: str
    media_type: str
    characters: int
    passages: int
    trust_tier: str
    suspicious: list[str]

    @classmethod
    def of(cls, row: DocumentRow) -> Document:
        """A row of the engine's listing."""
        return cls(
            document_id=row.document_id,
            title=row.title,
            uri=row.uri,
            media_type=row.media_type,
            characters=row.characters,
            passages=row.chunks,
            trust_tier=row.trust_tier,
            suspicious=flags_of(row.title, row.document_id),
        )


class DocumentsOutput(ToolResult):
    """`list_documents`; `after` asks for the next page, null on the last."""

    notice: str
    documents: list[Document]
    after: str | None

    def readable(self) -> str:
        """The documents, fenced: ids and titles come from the corpus."""
        return _listed([row.model_dump(mode="json") for row in self.documents], self.after)


class DocumentOutput(ToolResult):
    """`read_document`; `after` asks for the next page, null on the last."""

    notice: str
    document: Document
    passages: list[Passage]
    after: int | None

    def readable(self) -> str:
        """The passages, fenced."""
        more = "" if self.after is None else f" There is more: pass after={self.after}."
        return _with_passages(f"In reading order.{more}", self.passages)


class StatusOutput(ToolResult):
    """`index_status`; `current` is false where a newer index lies on disk."""

    state: Literal["ready", "missing"]
    current: bool | None
    legs: list[str]
    documents: int | None
    passages: int | None
    writable: bool

    def readable(self) -> str:
        """One line."""
        if self.state == "missing":
            if self.writable:
                return "There is no index. If the user wants one, call index_documents."
            return "There is no index: tell the user."
        return (
            f"The index is ready: {self.documents} documents, {self.passages} passages, searched "
            f"by {', '.join(self.legs)}."
        )


class StatsOutput(ToolResult):
    """`corpus_stats`; `whole` is null for whoever sees some tenants only."""

    stack: str
    documents: int
    passages: int
    legs: list[str]
    models: dict[str, str]
    whole: dict[str, Any] | None

    def readable(self) -> str:
        """One line."""
        return f"{self.documents} documents, {self.passages} passages; legs {', '.join(self.legs)}."


class IntegrityOutput(ToolResult):
    """`check_index_integrity`."""

    sound: bool
    documents: int
    passages: int
    damaged_files: list[str]
    duplicates: list[list[str]]
    near_duplicates: list[list[str]]
    unchecked: dict[str, str]

    def readable(self) -> str:
        """The verdict, then the findings, fenced: ids come from the corpus."""
        head = "The index is whole." if self.sound else "The index is damaged; tell the user."
        findings = {
            "damaged_files": self.damaged_files,
            "duplicates": self.duplicates,
            "near_duplicates": self.near_duplicates,
        }
        return f"{head}\n\n{fenced([Fenced('Findings:', findings, '')])}"


class IndexOutput(ToolResult):
    """`index_documents`."""

    state: str
    documents: int
    passages: int
    added: int
    changed: int
    unchanged: int
    removed: int
    skipped: dict[str, int]

    @classmethod
    def of(cls, report: RunReport) -> IndexOutput:
        """What a run did."""
        return cls(
            state=report.state,
            documents=report.documents,
            passages=report.chunks,
            added=report.added,
            changed=report.changed,
            unchanged=report.unchanged,
            removed=report.removed,
            skipped=dict(report.skipped),
        )

    def readable(self) -> str:
        """One line."""
        return (
            f"{self.state}: {self.documents} documents, {self.passages} passages; {self.added} "
            f"added, {self.changed} changed, {self.unchanged} unchanged, {self.removed} removed."
        )


class ResetOutput(ToolResult):
    """`reset_index`."""

    state: str

    def readable(self) -> str:
        """One line."""
        return "The index was deleted."


def _advice(answerable: bool | None, passages: int) -> str:
    if answerable is True:
        return "Answer from these passages only, and cite each as [n]."
    if answerable is False:
        return "Abstain: say that the documents do not answer this. Do not answer from memory."
    if not passages:
        return "Nothing relevant was found: say so, and do not answer from memory."
    return "Nothing was measured: judge the passages yourself, cite them as [n], abstain in doubt."


def _said(answerable: bool | None) -> str:
    return "not measured" if answerable is None else str(answerable).lower()


def _passages(evidence: Sequence[Found]) -> list[Passage]:
    return [Passage.of(item.rank, item.candidate, scored=True) for item in evidence]


def _with_passages(head: str, passages: Sequence[Passage]) -> str:
    if not passages:
        return head
    return f"{head}\n\n{fenced([passage.fenced() for passage in passages])}"


def _listed(rows: Sequence[Mapping[str, Any]], after: str | int | None) -> str:
    more = "This is the end." if after is None else "There is more: pass the after of this result."
    if not rows:
        return more
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"{more}\n\n{fenced([Fenced('A row each:', {}, lines)])}"


def _excerpt(text: str) -> str:
    return text if len(text) <= _SNIPPET else text[:_SNIPPET].rsplit(maxsplit=1)[0] + " …"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    return [_text(item) for item in value] if isinstance(value, list | tuple) else []
