"""The engine: everything that can be asked of one corpus."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from laya_index.bundle.manifest import Manifest
from laya_retrieval.candidate import Candidate
from laya_retrieval.extract import AnswerExtractor, ExtractedSentence
from laya_retrieval.filters import Filter
from laya_retrieval.gate.adjudicate import adjudicate
from laya_retrieval.gate.verdict import Verdict
from laya_retrieval.guard import Guard
from laya_retrieval.process.group import group_by_document
from laya_retrieval.retrieve.pipeline import OrchestrationPipeline, retrieve
from laya_retrieval.retrieve.query import QueryBundle
from laya_retrieval.verify.base import Passage as GivenPassage
from laya_retrieval.verify.base import read_passages
from laya_retrieval.verify.citations import CitationVerifier, verify_citations
from laya_retrieval.verify.injection import scan_injection
from laya_signals.component import fingerprint_of
from laya_signals.decide.base import DecisionModel
from laya_signals.errors import EncodeError
from laya_signals.registry import signals
from laya_signals.tokenize.base import Tokenizer

from laya_rag.access import Access
from laya_rag.backend.base import CorpusBackend, CorpusView, DocumentRow
from laya_rag.backend.bundle import BundleBackend
from laya_rag.config import Settings
from laya_rag.engine.cancel import CancelToken, StoppingProgress
from laya_rag.engine.clock import Clock
from laya_rag.engine.corpus import CorpusIdentity, leg_models, leg_names
from laya_rag.engine.listing import ChunkPage, CorpusStats, DocumentPage
from laya_rag.engine.lru import Lru
from laya_rag.engine.opening import open_corpus
from laya_rag.engine.parts import Parts
from laya_rag.engine.passage import numbered
from laya_rag.engine.probes import probes
from laya_rag.engine.result import (
    AdjudicateResult,
    AskResult,
    ExtractResult,
    JudgedClaim,
    SearchResult,
    VerifyResult,
)
from laya_rag.engine.second import SecondStage, component_fingerprint
from laya_rag.engine.weights import WEIGHT_BY_ENCODER, leg_weights
from laya_rag.errors import AccessError, NotFoundError, QueryError, StoreError

if TYPE_CHECKING:
    from laya_index.integrity import IntegrityReport
    from laya_index.stack import Stack

# So many characters are enough of a question to load the models.
_WARMING = 200

#: A filter, parsed or as JSON.
AnyFilter = Filter | Mapping[str, Any]


class Engine:
    """Answers from one snapshot of a corpus; thread-safe.

    Every method takes `access` (who asks), and those that search also `filters`, `settings` for
    this one call, and `cancel`; left out, they are those of the engine's settings. What a method
    returns, counts or raises depends on what the caller may see alone.

    `model` is a decision model to use instead of the one that the settings name. Nothing is kept
    between calls but models and the vectors of recent questions; those are kept apart by tenant.

    All of them raise `AccessError` for a caller whom the corpus refuses, `StoppedError` when
    `cancel` was used, and what the retrieval and the models raise.
    """

    def __init__(
        self,
        backend: CorpusBackend,
        settings: Settings | None = None,
        *,
        model: DecisionModel | None = None,
    ) -> None:
        self.backend = backend
        self.settings = settings or Settings()
        self._parts = Parts(model)
        self._vectors: Lru[Hashable, dict[str, Any]] = Lru(self.settings.cache.vectors)
        self._tokenizer: Tokenizer | None = None
        self._tokenizing = threading.Lock()

    @classmethod
    def open(
        cls,
        bundle: str | Path | None = None,
        settings: Settings | None = None,
        *,
        model: DecisionModel | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Engine:
        """An engine over a bundle's folder or a store's address; by default that of the settings.

        Whoever opens a bundle first makes the arrays that it is searched with; `progress` is told
        what is being made, how many steps are done and how many there are.

        Raises as `open_corpus` does: `ManifestError` where there is no bundle says how to make one.
        """
        settings = settings or Settings()
        backend = open_corpus(
            bundle or settings.bundle,
            approximate=settings.search.approximate,
            progress=progress,
        )
        return cls(backend, settings, model=model)

    def close(self) -> None:
        """Let go of files and connections; a second time does nothing."""
        self.backend.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def search(
        self,
        query: str,
        *,
        access: Access | None = None,
        filters: AnyFilter | None = None,
        settings: Settings | None = None,
        cancel: CancelToken | None = None,
    ) -> SearchResult:
        """The best passages, with what each leg gave them; no model judges anything.

        Raises `QueryError` for a query that is blank or has no token, `FilterError` for a malformed
        filter or an unknown field, and `OrchestrationError` when none of the wanted legs can run.
        """
        call = self._call(access, settings, cancel)
        pool = self._pool(call, query, filters)
        return SearchResult(
            query=query,
            corpus=call.corpus,
            passages=numbered(pool.candidates[: call.settings.search.keep]),
            found=len(pool.candidates),
            weights=pool.weights,
            probes=pool.probes,
            configuration=self._configuration(call.settings),
            models=leg_models(call.manifest, pool.weights),
            seconds=call.clock.seconds(),
        )

    def ask(
        self,
        query: str,
        *,
        access: Access | None = None,
        filters: AnyFilter | None = None,
        settings: Settings | None = None,
        cancel: CancelToken | None = None,
    ) -> AskResult:
        """The evidence for `query`, and with which probability it answers; raises as `search`."""
        return self._ask(self._call(access, settings, cancel), query, filters)

    def extract(
        self,
        query: str,
        *,
        access: Access | None = None,
        filters: AnyFilter | None = None,
        settings: Settings | None = None,
        cancel: CancelToken | None = None,
    ) -> ExtractResult:
        """Sentences of the evidence, word for word; raises as `search`.

        Abstains where the gate says that the evidence does not answer, or no sentence holds enough
        of the question's words. With the gate off, the words alone decide.
        """
        call = self._call(access, settings, cancel)
        asked = self._ask(call, query, filters)
        extractor = AnswerExtractor(call.settings.extract, tokenizer=self._corpus_tokenizer())
        sentences: tuple[ExtractedSentence, ...] = ()
        abstention: str | None = "not_answerable"
        if asked.verdict.answerable is not False:
            with call.clock.stage("extract"):
                found = extractor.extract(query, [passage.candidate for passage in asked.evidence])
            sentences, abstention = found.sentences, found.abstention
        return ExtractResult(
            asked=asked,
            sentences=sentences,
            abstention=abstention,
            configuration=fingerprint_of([asked.configuration, extractor.fingerprint]),
            seconds=call.clock.seconds(),
        )

    def verify(
        self,
        answer: str,
        *,
        passages: Sequence[GivenPassage] | None = None,
        records: Sequence[str] | None = None,
        query: str | None = None,
        access: Access | None = None,
        filters: AnyFilter | None = None,
        settings: Settings | None = None,
        cancel: CancelToken | None = None,
    ) -> VerifyResult:
        """What in `answer` agrees with its passages; `[n]` in it cites the n-th of them.

        The passages are given, or named by record id, or they are the evidence for `query`.
        Raises `QueryError` unless it is exactly one of the three, `NotFoundError` for a record
        that the caller may not see or that does not exist, and as `search` for a query.
        """
        if sum(given is not None for given in (passages, records, query)) != 1:
            raise QueryError("verify an answer against passages, records or a query: give one")
        call = self._call(access, settings, cancel)
        asked = None
        if query is not None:
            asked = self._ask(call, query, filters)
            passages = [passage.candidate for passage in asked.evidence]
        elif records is not None:
            with call.clock.stage("records"):
                passages = _permitted(call.view.records(records), call.guards)
        with call.clock.stage("verify"):
            result = verify_answer(answer, passages or ())
        return replace(result, corpus=call.corpus, asked=asked, seconds=call.clock.seconds())

    def adjudicate(
        self,
        answer: str,
        *,
        access: Access | None = None,
        filters: AnyFilter | None = None,
        settings: Settings | None = None,
        cancel: CancelToken | None = None,
    ) -> AdjudicateResult:
        """Search for each claim of `answer` and let the gate say whether the corpus supports it.

        A claim for which nothing relevant is found is not measured, as all are with the gate off.
        Raises as `search`.
        """
        call = self._call(access, settings, cancel)
        claims = CitationVerifier(quotes=False, numbers=False).verify(answer, ()).claims
        cited = [[(item.span.start, item.span.end) for item in c.citations] for c in claims]
        queries = [
            _without(answer, claim.span.start, claim.span.end, spans)
            for claim, spans in zip(claims, cited, strict=True)
        ]
        second = self._parts.second(call.settings, call.clock.cancel)
        gate = _StageGate(second, call)
        judged = adjudicate(
            queries, lambda claim: self._pool(call, claim, filters).candidates, gate
        )
        models = leg_models(call.manifest, call.legs())
        return AdjudicateResult(
            corpus=call.corpus,
            claims=tuple(
                JudgedClaim(
                    claim.text,
                    claim.span,
                    item.claim,
                    item.support,
                    item.probability,
                    numbered(item.passages),
                )
                for claim, item in zip(claims, judged, strict=True)
            ),
            threshold=call.settings.gate.answerability,
            configuration=self._configuration(call.settings, second),
            models=models if gate.model is None else {**models, "decision": gate.model},
            seconds=call.clock.seconds(),
        )

    def documents(
        self, *, access: Access | None = None, after: str | None = None, limit: int = 100
    ) -> DocumentPage:
        """Documents with a chunk that the caller may see, by id, those behind `after`."""
        call = self._call(access)
        rows = call.view.documents(after=after, limit=limit + 1)
        page = tuple(call.shown(row) for row in rows[:limit])
        return DocumentPage(page, page[-1].document_id if len(rows) > limit else None)

    def document(self, document_id: str, *, access: Access | None = None) -> DocumentRow:
        """One document; raises `NotFoundError`, also for one that the caller may not see."""
        call = self._call(access)
        return call.shown(call.view.document(document_id))

    def chunks(
        self,
        document_id: str,
        *,
        access: Access | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> ChunkPage:
        """A document's chunks by ordinal, those behind `after`; raises as `document`."""
        call = self._call(access)
        document = call.shown(call.view.document(document_id))
        found = call.view.chunks(document_id, after=after, limit=limit + 1)
        page = tuple(_permitted(found[:limit], call.guards))
        return ChunkPage(
            document, page, page[-1].metadata["ordinal"] if len(found) > limit else None
        )

    def records(
        self, record_ids: Sequence[str], *, access: Access | None = None
    ) -> tuple[Candidate, ...]:
        """The chunks with these ids, in this order; raises `NotFoundError` naming a missing one."""
        call = self._call(access)
        return tuple(_permitted(call.view.records(record_ids), call.guards))

    def stats(self, *, access: Access | None = None) -> CorpusStats:
        """How much there is for the caller; the whole corpus's numbers for who may see it all."""
        call = self._call(access)
        totals = call.view.totals()
        legs = call.legs()
        return CorpusStats(
            corpus=call.corpus,
            documents=totals.documents,
            chunks=totals.chunks,
            legs=legs,
            models=leg_models(call.manifest, legs),
            whole=None if call.restricted else call.manifest,
        )

    def identity(self, *, access: Access | None = None) -> CorpusIdentity:
        """Which corpus this is, as far as the caller may know; every result carries the same."""
        return self._call(access).corpus

    def warm(self) -> None:
        """Load what a question needs, by asking one; raises as `ask`.

        An empty corpus is asked nothing.
        """
        everything = Access(all_tenants=True)
        for row in self.documents(access=everything, limit=1).documents:
            first = self.chunks(row.document_id, access=everything, limit=1).chunks[0]
            self.ask(first.text[:_WARMING], access=everything)

    def integrity(
        self,
        *,
        access: Access | None = None,
        stack: Stack | None = None,
        cancel: CancelToken | None = None,
    ) -> IntegrityReport:
        """Whether the bundle is whole, what it holds twice, and with `stack` whether it is current.

        It names documents of the whole bundle as it is on disk now, whatever their trust. Raises
        `AccessError` for a caller who sees some tenants only, `StoreError` where the corpus is in
        a store, and as `laya_index.integrity.check`.
        """
        if self._call(access).restricted:
            raise AccessError("the integrity of a corpus is for who may see every tenant")
        if not isinstance(self.backend, BundleBackend):
            raise StoreError("a store has no integrity to check: check the bundle it came from")
        # Here, for the comparison of documents is much to import and seldom wanted.
        from laya_index.integrity import check

        return check(self.backend.path, stack, progress=StoppingProgress(cancel or CancelToken()))

    def _call(
        self,
        access: Access | None = None,
        settings: Settings | None = None,
        cancel: CancelToken | None = None,
    ) -> _Call:
        settings = settings or self.settings
        access = access or settings.access.access()
        return _Call(self.backend, access, settings, Clock(cancel))

    def _pool(self, call: _Call, query: str, filters: AnyFilter | None) -> _Pool:
        """Everything that the first stage finds, fused."""
        if not query.strip():
            raise QueryError("the query is blank")
        search, fuser = call.settings.search, self._parts.fuser(call.settings)
        bundle = self._query(call, query, filters)
        weights = leg_weights(
            call.manifest,
            bundle.legs(call.view.capabilities),
            given=search.weights,
            named=search.legs is not None,
        )
        pipeline = OrchestrationPipeline(
            fuser=fuser, final_top_k=None, weights=weights, guards=call.guards
        )
        with call.clock.stage("search"):
            found = retrieve(bundle, call.view, pipeline)
        ran = {leg: weights[leg] for leg in found.fetched_modes}
        names = probes(query, found.candidates, search.probes) if search.iterate else []
        if not names:
            return _Pool(list(found.candidates), ran, ())
        legs = [(leg.mode, weights[leg.mode], leg.candidates) for leg in found.legs]
        for name in names:
            probe = self._query(call, f"{query} {name}", filters)
            with call.clock.stage("probe"):
                for leg in retrieve(probe, call.view, pipeline).legs:
                    weight = weights[leg.mode] * search.probe_weight
                    legs.append((f"{leg.mode}:{name!r}", weight, leg.candidates))
        fused = fuser.fuse(
            [candidates for _, _, candidates in legs],
            weights=[weight for _, weight, _ in legs],
            names=[name for name, _, _ in legs],
        )
        return _Pool(fused, ran, tuple(names))

    def _query(self, call: _Call, text: str, filters: AnyFilter | None) -> QueryBundle:
        """The query with its vectors, which are the only thing that is remembered of it."""
        search = call.settings.search
        options: dict[str, Any] = {"depth": search.depth, "modes": search.legs}
        # By tenants too: how quickly an answer comes must not tell what others asked.
        key = (call.access.tenants, call.access.all_tenants, search.legs, text)
        with call.clock.stage("query"):
            try:
                vectors = self._vectors.get(key, lambda: _vectors(call.view.query(text, **options)))
            except EncodeError as error:
                # A control character alone, or an accent: not blank, and yet no token.
                raise QueryError("there is nothing in the query that can be encoded") from error
        return QueryBundle(text=text, filters=filters, **vectors, **options)

    def _ask(self, call: _Call, query: str, filters: AnyFilter | None) -> AskResult:
        pool = self._pool(call, query, filters)
        second = self._parts.second(call.settings, call.clock.cancel)
        evidence = second.run(query, pool.candidates, call.guards, call.clock)
        models = leg_models(call.manifest, pool.weights)
        if evidence.verdict.model_fingerprint is not None:
            models["decision"] = evidence.verdict.model_fingerprint
        with call.clock.stage("group"):
            documents = tuple(group_by_document(evidence.candidates))
            flags = scan_injection(evidence.candidates)
        return AskResult(
            query=query,
            corpus=call.corpus,
            verdict=evidence.verdict,
            evidence=numbered(evidence.candidates),
            documents=documents,
            packed=evidence.packed,
            funnel=evidence.funnel,
            flags=flags,
            weights=pool.weights,
            probes=pool.probes,
            configuration=self._configuration(call.settings, second),
            models=models,
            seconds=call.clock.seconds(),
        )

    def _configuration(self, settings: Settings, second: SecondStage | None = None) -> str:
        """Everything but the corpus and the caller that decides what comes out."""
        search = settings.search.model_dump(mode="json", exclude={"fuser"})
        return fingerprint_of(
            {
                "search": search,
                "weight_by_encoder": dict(WEIGHT_BY_ENCODER),
                "fuser": component_fingerprint(self._parts.fuser(settings)),
                "second": None if second is None else second.fingerprint,
            }
        )

    def _corpus_tokenizer(self) -> Tokenizer | None:
        """The tokenizer of the corpus's lexical leg, which knows its language; None without one."""
        entry = self.backend.manifest.bm25
        if entry is None:
            return None
        with self._tokenizing:
            if self._tokenizer is None:
                self._tokenizer = signals.resolve(entry.tokenizer, Tokenizer)
            return self._tokenizer


def verify_answer(answer: str, passages: Sequence[GivenPassage]) -> VerifyResult:
    """What in `answer` agrees with `passages`; needs no corpus and no model.

    Raises `VerificationError` for a passage that is neither a candidate nor a text.
    """
    return VerifyResult(
        report=verify_citations(answer, passages),
        passages=tuple(passage.record_id for passage in read_passages(passages)),
        flags=scan_injection(passages),
    )


@dataclass(frozen=True, slots=True)
class _Pool:
    """The fused candidates, the legs that ran with their weights, and what probes looked for."""

    candidates: list[Candidate]
    weights: dict[str, float]
    probes: tuple[str, ...]


class _Call:
    """One call of a method: who asks, what that caller sees, and under which settings."""

    def __init__(
        self, backend: CorpusBackend, access: Access, settings: Settings, clock: Clock
    ) -> None:
        self.manifest: Manifest = backend.manifest
        self.access = access
        self.settings = settings
        self.clock = clock
        self.guards: tuple[Guard, ...] = access.guards(self.manifest.tenants is not None)
        self.view: CorpusView = backend.view(access)
        #: Whether there may be something that the caller must not know of.
        self.restricted = bool(access.tenants)
        stack = self.manifest.stack
        self.corpus = CorpusIdentity(
            stack.name, stack.hash, None if self.restricted else backend.identity
        )

    def legs(self) -> tuple[str, ...]:
        """The legs that can run."""
        return leg_names(self.manifest, self.view.capabilities)

    def shown(self, row: DocumentRow) -> DocumentRow:
        """A document without the names of tenants that are not the caller's."""
        if not self.restricted or row.tenants is None:
            return row
        own = set(self.access.tenants)
        return replace(row, tenants=tuple(name for name in row.tenants if name in own))


class _StageGate:
    """The whole second stage as a gate, whose verdict keeps the evidence."""

    def __init__(self, second: SecondStage, call: _Call) -> None:
        self._second = second
        self._call = call
        #: The fingerprint of the model that judged, once it did.
        self.model: str | None = None

    def judge(self, query: str, candidates: Sequence[Candidate]) -> Verdict:
        """The verdict on the evidence that the stage finds among `candidates`."""
        evidence = self._second.run(query, candidates, self._call.guards, self._call.clock)
        self.model = evidence.verdict.model_fingerprint or self.model
        return replace(evidence.verdict, kept=evidence.candidates)


def _permitted(candidates: Sequence[Candidate], guards: Sequence[Guard]) -> list[Candidate]:
    """The candidates as the view gave them; one that slipped through does not exist either."""
    for candidate in candidates:
        if not all(guard.permits(candidate) for guard in guards):
            raise NotFoundError(f"no chunk {candidate.id!r}")
    return list(candidates)


def _vectors(query: QueryBundle) -> dict[str, Any]:
    return {
        "vector": query.vector,
        "vectors": query.vectors,
        "sparse_terms": query.sparse_terms,
        "multivector": query.multivector,
    }


def _without(text: str, start: int, end: int, spans: Sequence[tuple[int, int]]) -> str:
    """`text[start:end]` without the `spans` in it and the blanks before them."""
    pieces = []
    for begin, stop in sorted(spans):
        pieces.append(text[start:begin].rstrip())
        start = stop
    return " ".join("".join([*pieces, text[start:end]]).split())
