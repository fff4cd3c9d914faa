"""The three tools that only search: over the engine, and over any `RetrievalBackend`."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from laya_retrieval.candidate import Candidate
from laya_retrieval.filters import And, Filter, parse_filter
from laya_retrieval.guard import Guard, TenantFilter
from laya_retrieval.process.group import document_of
from laya_retrieval.retrieve.backend import Capability, RetrievalBackend
from laya_retrieval.retrieve.pipeline import OrchestrationPipeline, retrieve
from laya_retrieval.retrieve.query import QueryBundle

from laya_rag.access import Access
from laya_rag.engine import CancelToken, Engine
from laya_rag.serving.auth import Caller
from laya_rag.serving.errors import NotFoundError

# So much of a passage says what it is about.
_LIKE = 2000
_DEPTH = 20
# Records that a plain backend showed to each caller, by which more is asked about them.
_REMEMBERED = 2048

FilterJson = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Hits:
    """Candidates, best first, how many there were before the cut, and the legs that ran."""

    candidates: tuple[Candidate, ...]
    found: int
    legs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """A record among its neighbours; not `complete` where some may be missing."""

    record: Candidate
    passages: tuple[Candidate, ...]
    complete: bool


class Searcher(Protocol):
    """What the three tools ask of whatever is searched."""

    def search(
        self, caller: Caller, query: str, limit: int, filters: FilterJson, cancel: CancelToken
    ) -> Hits:
        """The best `limit` passages."""
        ...

    def record(self, caller: Caller, record_id: str) -> Candidate:
        """One passage; raises `NotFoundError`."""
        ...

    def context(self, caller: Caller, record_id: str, before: int, after: int) -> Context:
        """A passage with its neighbours in reading order; raises `NotFoundError`."""
        ...


def more_like(
    searcher: Searcher,
    caller: Caller,
    record_id: str,
    limit: int,
    filters: FilterJson,
    cancel: CancelToken,
) -> Hits:
    """What is found by a record's text, without the record itself; raises `NotFoundError`."""
    record = searcher.record(caller, record_id)
    hits = searcher.search(caller, record.text[:_LIKE], limit + 1, filters, cancel)
    others = [item for item in hits.candidates if item.id != record.id]
    return Hits(tuple(others[:limit]), hits.found - (len(others) < len(hits.candidates)), hits.legs)


class EngineSearcher:
    """Searches with the engine, by its settings."""

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine

    def search(
        self, caller: Caller, query: str, limit: int, filters: FilterJson, cancel: CancelToken
    ) -> Hits:
        """See `Searcher.search`."""
        engine = self._engine()
        depth = max(limit, engine.settings.search.depth)
        settings = engine.settings.updated({"search.keep": limit, "search.depth": depth})
        result = engine.search(
            query, access=caller.access, filters=filters, settings=settings, cancel=cancel
        )
        found = tuple(passage.candidate for passage in result.passages)
        return Hits(found, result.found, tuple(result.weights))

    def record(self, caller: Caller, record_id: str) -> Candidate:
        """See `Searcher.record`."""
        return self._engine().records([record_id], access=caller.access)[0]

    def context(self, caller: Caller, record_id: str, before: int, after: int) -> Context:
        """See `Searcher.context`."""
        engine = self._engine()
        record = engine.records([record_id], access=caller.access)[0]
        ordinal: int = record.metadata["ordinal"]
        page = engine.chunks(
            document_of(record),
            access=caller.access,
            after=ordinal - before - 1,
            limit=before + after + 1,
        )
        last = ordinal + after
        chunks = tuple(c for c in page.chunks if c.metadata["ordinal"] <= last)
        return Context(record, chunks, complete=True)


class BackendSearcher:
    """Searches any `RetrievalBackend`, which finds passages and nothing else.

    `query` makes a query with the signals that the backend needs; by default the text alone, or
    the backend's own `query` where it has one. What was found is remembered for each caller, so
    that it can be asked for again; neighbours are looked for by the metadata `document_id` and
    `ordinal`, with the words of the record, and some may be missed.

    A caller of some tenants sees what names one of them under `tenants`; `guards` hold for all.
    """

    def __init__(
        self,
        backend: RetrievalBackend,
        *,
        query: Callable[..., QueryBundle] | None = None,
        guards: Sequence[Guard] = (),
    ) -> None:
        self._backend = backend
        own: Callable[..., QueryBundle] = getattr(backend, "query", QueryBundle)
        self._query = own if query is None else query
        self._guards = tuple(guards)
        self._seen: OrderedDict[tuple[str, str], Candidate] = OrderedDict()
        self._lock = threading.Lock()

    def search(
        self, caller: Caller, query: str, limit: int, filters: FilterJson, cancel: CancelToken
    ) -> Hits:
        """See `Searcher.search`."""
        cancel.check()
        parsed = None if filters is None else parse_filter(filters)
        found, legs = self._retrieve(caller, query, max(limit, _DEPTH), parsed)
        cancel.check()
        hits = found[:limit]
        self._remember(caller, hits)
        return Hits(tuple(hits), len(found), legs)

    def record(self, caller: Caller, record_id: str) -> Candidate:
        """See `Searcher.record`; one that this caller was not shown is unknown."""
        with self._lock:
            record = self._seen.get((caller.name, record_id))
        if record is None:
            raise NotFoundError("no such record among those that a search returned")
        return record

    def context(self, caller: Caller, record_id: str, before: int, after: int) -> Context:
        """See `Searcher.context`."""
        record = self.record(caller, record_id)
        ordinal = record.metadata.get("ordinal")
        if not isinstance(ordinal, int) or Capability.FILTER not in self._backend.capabilities:
            return Context(record, (record,), complete=False)
        rules = [parse_filter({"ordinal": {"gte": ordinal - before, "lte": ordinal + after}})]
        if "document_id" in record.metadata:
            rules.append(parse_filter({"document_id": record.metadata["document_id"]}))
        depth = before + after + 1
        found, _ = self._retrieve(caller, record.text[:_LIKE], depth, And(tuple(rules)))
        rows = {item.id: item for item in found} | {record.id: record}
        passages = sorted(rows.values(), key=lambda item: (item.metadata["ordinal"], item.id))
        self._remember(caller, passages)
        return Context(record, tuple(passages), complete=len(passages) == depth)

    def _retrieve(
        self, caller: Caller, text: str, depth: int, filters: Filter | None
    ) -> tuple[list[Candidate], tuple[str, ...]]:
        pipeline = OrchestrationPipeline(
            final_top_k=None, guards=(*self._guards, *_own(caller.access))
        )
        bundle = self._query(text, depth=depth, filters=filters)
        result = retrieve(bundle, self._backend, pipeline)
        return list(result.candidates), result.fetched_modes

    def _remember(self, caller: Caller, candidates: Sequence[Candidate]) -> None:
        with self._lock:
            for candidate in candidates:
                key = (caller.name, candidate.id)
                self._seen[key] = candidate
                self._seen.move_to_end(key)
            while len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)


def _own(access: Access | None) -> tuple[Guard, ...]:
    """The rule for a caller of some tenants; nothing where all may be seen."""
    if access is None or access.all_tenants:
        return ()
    return (TenantFilter(access.tenants),)
