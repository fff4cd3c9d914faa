"""What every route shares: the corpus, the threads that work on it, and what may be changed."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from starlette.requests import Request

from laya_rag.compose import ComposeEvent, compose
from laya_rag.engine import CancelToken, Engine
from laya_rag.engine.workers import Workers
from laya_rag.http.audit import AuditLog
from laya_rag.http.cursors import Cursors
from laya_rag.http.idempotency import IdempotencyKeys
from laya_rag.http.leaving import while_connected
from laya_rag.http.metrics import Metrics
from laya_rag.http.problems import ProblemError
from laya_rag.http.readiness import RETRY_AFTER, Readiness
from laya_rag.http.streams import HEARTBEAT
from laya_rag.serving.source import EngineSource
from laya_rag.serving.writing import Writing

R = TypeVar("R")
Json = dict[str, Any]
Composer = Callable[..., Generator[ComposeEvent, None, None]]


@dataclass(frozen=True)
class Service:
    """The corpus behind the routes."""

    source: EngineSource
    #: Whether callers need tokens.
    guarded: bool
    writing: Writing | None
    #: Threads for questions; beyond their queue a request is refused.
    workers: Workers
    readiness: Readiness
    metrics: Metrics
    #: What composes answers, as `laya_rag.compose.compose` does.
    compose: Composer = compose
    audit: AuditLog | None = None
    #: Seconds of silence of a stream before a sign of life.
    heartbeat: float = HEARTBEAT
    cursors: Cursors = field(default_factory=Cursors)
    keys: IdempotencyKeys = field(default_factory=IdempotencyKeys)
    #: The one thread that changes the index; nothing waits for it.
    writer: Workers = field(default_factory=lambda: Workers(1, 0))

    def engine(self) -> Engine:
        """The engine over the newest index, for this one request.

        Raises `ProblemError` where there is no index; otherwise as `EngineSource.engine`.
        """
        if self.source.missing():
            raise ProblemError("not_ready", "there is no index yet", retry_after=RETRY_AFTER)
        return self.source.engine()

    async def run(self, request: Request, work: Callable[[Engine], R]) -> R:
        """The result of short work, off the event loop; one that nobody waits for is not begun."""
        return await while_connected(request.receive, self.workers.run(lambda: work(self.engine())))

    async def ask(self, request: Request, work: Callable[[Engine, CancelToken], R]) -> R:
        """The result of long work; the token is used when the client goes away."""

        def stoppable(*, cancel: CancelToken) -> R:
            cancel.check()
            return work(self.engine(), cancel)

        return await while_connected(request.receive, self.workers.stoppable(stoppable))

    async def close(self) -> None:
        """Wait for what runs, refuse what waits, and let go of the corpus."""
        await self.workers.close()
        await self.writer.close()
        if self.readiness.close():
            self.source.close()


def service_of(request: Request) -> Service:
    """The service behind a route."""
    return cast(Service, request.app.state.service)
