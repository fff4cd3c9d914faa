"""The tools that need the engine: evidence, answers, listings and the state of the index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from laya_rag.config import Settings
from laya_rag.engine import CancelToken, Engine
from laya_rag.fence import NOTICE
from laya_rag.mcp.arguments import (
    AdjudicateAnswerArguments,
    ListDocumentsArguments,
    ListSourcesArguments,
    ReadDocumentArguments,
    SearchEvidenceArguments,
    VerifyAnswerArguments,
)
from laya_rag.mcp.results import (
    AdjudicateOutput,
    Document,
    DocumentOutput,
    DocumentsOutput,
    EvidenceOutput,
    ExtractOutput,
    IntegrityOutput,
    Passage,
    Source,
    SourcesOutput,
    StatsOutput,
    StatusOutput,
    VerifyOutput,
)
from laya_rag.serving.auth import Caller
from laya_rag.serving.source import EngineSource

# So many documents are read at a time to count them by source.
_SCAN = 1000


class Evidence:
    """The engine's answers, as the tools return them."""

    def __init__(self, source: EngineSource) -> None:
        self._source = source

    def search_evidence(
        self, caller: Caller, arguments: SearchEvidenceArguments, cancel: CancelToken
    ) -> EvidenceOutput:
        """Evidence and verdict."""
        return EvidenceOutput.of(self._ask(Engine.ask, caller, arguments, cancel))

    def extract_answer(
        self, caller: Caller, arguments: SearchEvidenceArguments, cancel: CancelToken
    ) -> ExtractOutput:
        """Sentences, word for word."""
        return ExtractOutput.of(self._ask(Engine.extract, caller, arguments, cancel))

    def verify_answer(
        self, caller: Caller, arguments: VerifyAnswerArguments, cancel: CancelToken
    ) -> VerifyOutput:
        """What agrees with the passages."""
        return VerifyOutput.of(
            self._source.engine().verify(
                arguments.answer,
                passages=arguments.passages,
                records=arguments.record_ids,
                query=arguments.query,
                access=caller.access,
                filters=arguments.filter,
                cancel=cancel,
            )
        )

    def adjudicate_answer(
        self, caller: Caller, arguments: AdjudicateAnswerArguments, cancel: CancelToken
    ) -> AdjudicateOutput:
        """What the collection supports."""
        return AdjudicateOutput.of(
            self._source.engine().adjudicate(
                arguments.answer, access=caller.access, filters=arguments.filter, cancel=cancel
            )
        )

    def list_sources(
        self, caller: Caller, arguments: ListSourcesArguments, cancel: CancelToken
    ) -> SourcesOutput:
        """Documents counted by the beginning of their id; reads the whole listing."""
        engine = self._source.engine()
        counts: dict[str, list[int]] = {}
        after: str | None = None
        while True:
            cancel.check()
            page = engine.documents(access=caller.access, after=after, limit=_SCAN)
            for row in page.documents:
                head, slash, _ = row.document_id.partition("/")
                count = counts.setdefault(head if slash else ".", [0, 0])
                count[0] += 1
                count[1] += row.chunks
            after = page.after
            if after is None:
                break
        names = sorted(name for name in counts if arguments.after is None or name > arguments.after)
        shown = names[: arguments.limit]
        return SourcesOutput(
            sources=[
                Source(name=name, documents=counts[name][0], passages=counts[name][1])
                for name in shown
            ],
            after=shown[-1] if len(names) > len(shown) else None,
        )

    def list_documents(
        self, caller: Caller, arguments: ListDocumentsArguments, cancel: CancelToken
    ) -> DocumentsOutput:
        """A page of documents."""
        cancel.check()
        page = self._source.engine().documents(
            access=caller.access, after=arguments.after, limit=arguments.limit
        )
        rows = [Document.of(row) for row in page.documents]
        return DocumentsOutput(notice=NOTICE, documents=rows, after=page.after)

    def read_document(
        self, caller: Caller, arguments: ReadDocumentArguments, cancel: CancelToken
    ) -> DocumentOutput:
        """A page of passages."""
        cancel.check()
        page = self._source.engine().chunks(
            arguments.document_id,
            access=caller.access,
            after=arguments.after,
            limit=arguments.limit,
        )
        return DocumentOutput(
            notice=NOTICE,
            document=Document.of(page.document),
            passages=[Passage.of(n, item, scored=False) for n, item in enumerate(page.chunks, 1)],
            after=page.after,
        )

    def index_status(self, caller: Caller, *, writable: bool) -> StatusOutput:
        """Whether there is an index, and which."""
        if self._source.missing():
            return StatusOutput(
                state="missing",
                current=None,
                legs=[],
                documents=None,
                passages=None,
                writable=writable,
            )
        stats = self._source.engine().stats(access=caller.access)
        return StatusOutput(
            state="ready",
            current=self._source.current(),
            legs=list(stats.legs),
            documents=stats.documents,
            passages=stats.chunks,
            writable=writable,
        )

    def corpus_stats(self, caller: Caller) -> StatsOutput:
        """How much there is."""
        stats = self._source.engine().stats(access=caller.access)
        return StatsOutput(
            stack=stats.corpus.stack,
            documents=stats.documents,
            passages=stats.chunks,
            legs=list(stats.legs),
            models=dict(stats.models),
            whole=stats.to_json()["whole"],
        )

    def check_index_integrity(self, caller: Caller) -> IntegrityOutput:
        """Whether the index is whole."""
        report = self._source.engine().integrity(access=caller.access)
        near = [] if report.near is None else report.near.pairs
        return IntegrityOutput(
            sound=report.sound,
            documents=report.documents,
            passages=report.chunks,
            damaged_files=[f"{item.path}: {item.problem}" for item in report.files],
            duplicates=[list(group) for group in report.duplicates or ()],
            near_duplicates=[[pair.first, pair.second] for pair in near],
            unchecked=report.unchecked,
        )

    def _ask(
        self,
        method: Callable[..., Any],
        caller: Caller,
        arguments: SearchEvidenceArguments,
        cancel: CancelToken,
    ) -> Any:
        engine = self._source.engine()
        settings: Settings | None = None
        if arguments.limit is not None:
            settings = engine.settings.updated({"search.keep": arguments.limit})
        return method(
            engine,
            arguments.query,
            access=caller.access,
            filters=arguments.filter,
            settings=settings,
            cancel=cancel,
        )
