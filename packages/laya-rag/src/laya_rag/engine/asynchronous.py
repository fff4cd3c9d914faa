"""The engine for programs that run an event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from laya_rag.engine.engine import Engine
from laya_rag.engine.listing import ChunkPage, CorpusStats, DocumentPage
from laya_rag.engine.result import (
    AdjudicateResult,
    AskResult,
    ExtractResult,
    SearchResult,
    VerifyResult,
)
from laya_rag.engine.workers import Workers

if TYPE_CHECKING:
    from laya_index.integrity import IntegrityReport

P = ParamSpec("P")
R = TypeVar("R")


class AsyncEngine:
    """The methods of an `Engine` as coroutines that never hold up the event loop.

    They run in `workers` threads of their own. Beyond `waiting` further calls, one is refused at
    once with `OverloadedError` instead of waiting longer and longer. Cancelling the coroutine
    stops the work at its next stage or model call; a call that still waits is never begun.
    """

    def __init__(self, engine: Engine, *, workers: int = 2, waiting: int = 32) -> None:
        self.engine = engine
        self._workers = Workers(workers, waiting)

    async def search(self, query: str, **options: Any) -> SearchResult:
        """`Engine.search`, with the same keywords but `cancel`."""
        return await self._stoppable(self.engine.search, query, **options)

    async def ask(self, query: str, **options: Any) -> AskResult:
        """`Engine.ask`, with the same keywords but `cancel`."""
        return await self._stoppable(self.engine.ask, query, **options)

    async def extract(self, query: str, **options: Any) -> ExtractResult:
        """`Engine.extract`, with the same keywords but `cancel`."""
        return await self._stoppable(self.engine.extract, query, **options)

    async def verify(self, answer: str, **options: Any) -> VerifyResult:
        """`Engine.verify`, with the same keywords but `cancel`."""
        return await self._stoppable(self.engine.verify, answer, **options)

    async def adjudicate(self, answer: str, **options: Any) -> AdjudicateResult:
        """`Engine.adjudicate`, with the same keywords but `cancel`."""
        return await self._stoppable(self.engine.adjudicate, answer, **options)

    async def documents(self, **options: Any) -> DocumentPage:
        """`Engine.documents`, with the same keywords."""
        return await self.run(self.engine.documents, **options)

    async def chunks(self, document_id: str, **options: Any) -> ChunkPage:
        """`Engine.chunks`, with the same keywords."""
        return await self.run(self.engine.chunks, document_id, **options)

    async def stats(self, **options: Any) -> CorpusStats:
        """`Engine.stats`, with the same keywords."""
        return await self.run(self.engine.stats, **options)

    async def integrity(self, **options: Any) -> IntegrityReport:
        """`Engine.integrity`, with the same keywords."""
        return await self.run(self.engine.integrity, **options)

    async def run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Any other work in the same threads and under the same limit."""
        return await self._workers.run(work, *args, **kwargs)

    async def _stoppable(self, work: Callable[..., R], *args: Any, **options: Any) -> R:
        return await self._workers.stoppable(work, *args, **options)

    async def close(self) -> None:
        """Wait for what runs, refuse what waits, and close the engine."""
        await self._workers.close()
        self.engine.close()

    async def __aenter__(self) -> AsyncEngine:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
