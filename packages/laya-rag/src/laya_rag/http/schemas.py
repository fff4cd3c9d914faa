"""What answers hold, for the API description; the engine's `to_json` makes them.

`docs/engine.md` explains the keys. Tests hold real answers against these.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel


class Part(BaseModel):
    """Base of everything that is answered."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Status(Part):
    """What a probe is told."""

    status: Literal["ok", "ready"]


class Bundle(Part):
    """The corpus; `identity` changes with it, and is null for callers of some tenants."""

    stack: str
    stack_hash: str
    identity: str | None


class Leg(Part):
    """What one leg gave a passage."""

    leg: str
    rank: float
    score: float
    contribution: float


class Chunk(Part):
    """A passage of a document; `start` and `end` are characters of it, half-open."""

    record_id: str
    document_id: str
    ordinal: int
    title: str
    heading_path: list[str]
    start: int
    end: int
    trust_tier: str
    text: str


class Passage(Chunk):
    """A passage that was found."""

    rank: int = Field(description="The n of [n].")
    score: float
    relevance: float | None = Field(description="Probability; null where no gate read it.")
    legs: list[Leg]
    duplicates: list[str]
    merged: list[str]


class Verdict(Part):
    """Whether the evidence answers; null probabilities were not measured, and are not 0."""

    state: Literal["measured", "gate_not_reached", "not_measured"]
    answerable: bool | None
    answerability: float | None
    answerability_threshold: float
    relevance_threshold: float | None
    model: str | None
    questions: list[dict[str, Any]]


class Funnel(Part):
    """How many candidates reached each step."""

    retrieved: int
    duplicates: int
    considered: int
    dropped_before_scoring: int
    scored: int
    below_relevance: int
    kept: int
    evidence: int


class DocumentGroup(Part):
    """The evidence of one document."""

    document_id: str
    title: str
    score: float
    passages: list[int]
    text: str


class Skipped(Part):
    """A passage that did not go into the budget."""

    record_id: str
    reason: str
    tokens: int


class Packed(Part):
    """How the evidence was packed."""

    budget: int
    tokens: int
    method: str
    skipped: list[Skipped]


class Dropped(Part):
    """A candidate that the gate dropped."""

    record_id: str
    relevance: float | None


class Flag(Part):
    """A place where a passage addresses the model that reads it."""

    rule: str
    passage: int
    record_id: str | None
    start: int
    end: int
    text: str


class SearchResult(Part):
    """The best passages of every leg, fused."""

    version: int
    query: str
    bundle: Bundle
    legs: list[str]
    weights: dict[str, float]
    probes: list[str]
    found: int
    results: list[Passage]
    configuration: str
    models: dict[str, str]
    seconds: dict[str, float]


class AskResult(Part):
    """The evidence for a question, and whether it answers it."""

    version: int
    query: str
    bundle: Bundle
    verdict: Verdict
    funnel: Funnel
    legs: list[str]
    weights: dict[str, float]
    probes: list[str]
    evidence: list[Passage]
    documents: list[DocumentGroup]
    packed: Packed | None
    dropped: list[Dropped]
    flags: list[Flag]
    configuration: str
    models: dict[str, str]
    seconds: dict[str, float]


class Sentence(Part):
    """A sentence of the evidence, word for word."""

    text: str
    passage: int
    record_id: str
    start: int
    end: int
    document_start: int | None
    document_end: int | None
    score: float


class ExtractResult(AskResult):
    """Sentences of the evidence, or the reason why there are none."""

    text: str
    abstention: str | None
    sentences: list[Sentence]


class Place(Part):
    """Where something stands in a passage."""

    passage: int
    record_id: str | None
    start: int
    end: int


class Citation(Part):
    """A bracket in the answer."""

    text: str
    start: int
    end: int
    numbers: list[int]
    out_of_range: list[str]


class QuoteCheck(Part):
    """A quotation, and where it stands."""

    text: str
    start: int
    end: int
    state: Literal["found", "elsewhere", "unclear", "missing"]
    places: list[Place]


class NumberCheck(QuoteCheck):
    """A number, how it can be read, and where it stands."""

    readings: list[str]


class CheckedClaim(Part):
    """A claim of the answer, and what was compared."""

    text: str
    start: int
    end: int
    cited: list[int]
    uncited: bool
    out_of_range: bool
    checked: bool
    citations: list[Citation]
    quotes: list[QuoteCheck]
    numbers: list[NumberCheck]


class Cited(Part):
    """A passage by its number."""

    passage: int
    record_id: str | None


class VerifyResult(Part):
    """What in an answer agrees with its passages."""

    version: int
    query: str | None
    bundle: Bundle | None
    verdict: Verdict | None
    counts: dict[str, int]
    claims: list[CheckedClaim]
    passages: list[Cited]
    flags: list[Flag]
    caveat: str
    seconds: dict[str, float]


class JudgedClaim(Part):
    """A claim, and whether the corpus supports it."""

    text: str
    start: int
    end: int
    query: str
    support: Literal["supported", "not_supported", "not_measured"]
    probability: float | None
    passages: list[Passage]


class AdjudicateResult(Part):
    """Each claim of an answer against the corpus."""

    version: int
    bundle: Bundle
    counts: dict[str, int]
    threshold: float
    claims: list[JudgedClaim]
    caveat: str
    configuration: str
    models: dict[str, str]
    seconds: dict[str, float]


class Document(Part):
    """A document, as the caller may see it."""

    document_id: str
    title: str
    uri: str
    media_type: str
    characters: int
    chunks: int
    trust_tier: str
    tenants: list[str] | None
    metadata: dict[str, Any]


class DocumentPage(Part):
    """Documents by id; `next` is the cursor of the next page."""

    version: int
    documents: list[Document]
    next: str | None


class ChunkPage(Part):
    """Passages: with `document` and `next` those of a document, else those that were named."""

    version: int | None = None
    document: Document | None = None
    chunks: list[Chunk]
    next: str | None = None


class Whole(Part):
    """The corpus as a whole; only for callers of every tenant."""

    documents: int
    chunks: int
    terms: int
    skipped: dict[str, int]
    redactions: dict[str, int]
    tenants: list[str] | None
    files: int
    bytes: int


class Compose(Part):
    """Whether answers can be composed, and by what."""

    available: bool
    provider: str
    model: str | None


class GateSetting(Part):
    """The gate, as this server is set up."""

    enabled: bool
    relevance: float
    answerability: float


class Stats(Part):
    """How much there is, and what this server can do for this caller."""

    version: int
    bundle: Bundle
    documents: int
    chunks: int
    legs: list[str]
    models: dict[str, str]
    whole: Whole | None
    compose: Compose
    gate: GateSetting
    writable: bool
    auth: bool


class FileProblem(Part):
    """A file that is not as the manifest says."""

    path: str
    problem: str
    detail: str


class NearPair(Part):
    """Two documents that are nearly the same."""

    first: str
    second: str
    similarity: float


class NearDuplicates(Part):
    """Documents that are nearly the same."""

    threshold: float
    limit: int
    compared: int
    truncated: bool
    pairs: list[NearPair]


class Identity(Part):
    """A document whose id holds personal data."""

    document: str
    kinds: list[str]


class Integrity(Part):
    """Whether the index is whole, and what it holds twice."""

    stack: str
    documents: int
    chunks: int
    bytes: int
    files: list[FileProblem]
    drift: None
    duplicates: list[list[str]] | None
    near: NearDuplicates | None
    identities: list[Identity] | None
    unchecked: dict[str, str]
    sound: bool
    remarkable: bool


class IndexReport(Part):
    """What an index run did, or with dry_run would do."""

    state: Literal["built", "unchanged", "dry run"]
    stack: str
    documents: int
    chunks: int
    added: int
    changed: int
    unchanged: int
    removed: int
    bytes: int
    skipped: dict[str, int]
    redactions: dict[str, int]
    seconds: dict[str, float]


class Reset(Part):
    """The index is gone."""

    state: Literal["deleted"]


class DeleteReport(Part):
    """Which documents left the index, and how many are kept out of it."""

    state: Literal["changed", "unchanged", "dry run"]
    deleted: list[str]
    listed: list[str]
    excluded: int
    documents: int
    chunks: int


class Heartbeat(Part):
    """A sign of life; in server-sent events, a comment."""

    event: Literal["heartbeat"]


class ErrorEvent(Part):
    """The end instead of a result; `code` is that of a problem, or of the model's server."""

    event: Literal["error"]
    code: str
    detail: str
    request_id: str | None = None


class Progress(Part):
    """How far an index run is; `total` is null where nobody knows."""

    event: Literal["progress"]
    stage: str
    done: float
    total: float | None


class IndexResult(IndexReport):
    """The end of an index run."""

    event: Literal["result"]


class IndexEvent(RootModel[Any]):
    """One event of an index run."""

    root: Annotated[Progress | Heartbeat | IndexResult | ErrorEvent, Field(discriminator="event")]


class Evidence(AskResult):
    """The evidence, before anything is written."""

    event: Literal["evidence"]


class TextPiece(Part):
    """The next piece of the unverified text."""

    event: Literal["text"]
    text: str


class ComposeResult(Part):
    """The end of a composition."""

    event: Literal["result"]
    version: int
    query: str
    bundle: Bundle
    state: Literal["composed", "truncated", "abstained"]
    reason: str | None
    text: str
    unverified: Literal[True]
    caveat: str
    provider: str
    model: str
    finish: str | None
    shown: int
    verification: VerifyResult | None
    adjudication: AdjudicateResult | None
    flags: list[Flag]
    configuration: str
    seconds: dict[str, float]


class ComposeEvent(RootModel[Any]):
    """One event of a composition."""

    root: Annotated[
        Evidence | TextPiece | Heartbeat | ComposeResult | ErrorEvent,
        Field(discriminator="event"),
    ]
