"""The application: routes behind the checks that every request goes through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from laya_rag.compose import compose
from laya_rag.engine import Engine
from laya_rag.engine.workers import Workers
from laya_rag.http.admission import Admission
from laya_rag.http.audit import AuditLog
from laya_rag.http.description import Described
from laya_rag.http.failures import Failures, on_http_exception, on_invalid_request
from laya_rag.http.hardening import Hardening
from laya_rag.http.identity import RequestIdentity
from laya_rag.http.metrics import Metrics, Observed
from laya_rag.http.origins import Origins, checked_names
from laya_rag.http.page import page_routes
from laya_rag.http.readiness import Readiness
from laya_rag.http.routes import composing, corpus, evidence, health, index
from laya_rag.http.service import Composer, Service
from laya_rag.http.sizes import BODY_LIMIT, BodyLimit, Compressed
from laya_rag.http.streams import HEARTBEAT
from laya_rag.serving.auth import BearerAuth
from laya_rag.serving.rate import RateLimiter
from laya_rag.serving.source import EngineSource
from laya_rag.serving.writing import Writing


def http_app(
    source: EngineSource | Engine,
    *,
    auth: BearerAuth | None = None,
    rate: RateLimiter | None = None,
    writing: Writing | None = None,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
    workers: int = 2,
    waiting: int = 32,
    body_limit: int = BODY_LIMIT,
    audit: AuditLog | None = None,
    heartbeat: float = HEARTBEAT,
    composer: Composer = compose,
) -> FastAPI:
    """The application over a corpus; it closes `source` when it ends.

    Without `auth` every caller is the owner; without `rate` there is no limit; without `writing`
    nothing is changed. A request must name a host of `hosts`, and come from no page, the server's
    own or one of `origins`; loopback is always allowed as a host, with any port. `workers` threads
    answer questions, `waiting` more may wait, and a body has at most `body_limit` bytes. `audit`
    records every change. Streams are silent for `heartbeat` seconds at most, and `composer`
    composes as `laya_rag.compose.compose` does.

    Raises `ServerSetupError` for a host or an origin that cannot be one.
    """
    checked_names(hosts, origins)
    if isinstance(source, Engine):
        source = EngineSource(source.settings, engine=source)
    metrics = Metrics()
    service = Service(
        source=source,
        guarded=auth is not None,
        writing=writing,
        workers=Workers(workers, waiting),
        readiness=Readiness(source),
        metrics=metrics,
        audit=audit,
        heartbeat=heartbeat,
        compose=composer,
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:  # noqa: ARG001
        service.readiness.state()
        yield
        await service.close()

    app = Described(
        title="Laya",
        version=version("laya-rag"),
        summary="Retrieval that shows its evidence.",
        # Their pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        # The first is the outermost: whatever those behind it refuse has a name, is counted and
        # is a problem document.
        middleware=[
            Middleware(RequestIdentity),
            Middleware(Observed, metrics=metrics),
            Middleware(Hardening),
            Middleware(Failures, metrics=metrics),
            Middleware(Compressed),
            Middleware(Origins, hosts=hosts, origins=origins),
            Middleware(Admission, auth=auth, rate=rate),
            Middleware(BodyLimit, limit=body_limit),
        ],
        exception_handlers={
            HTTPException: on_http_exception,
            RequestValidationError: on_invalid_request,
        },
    )
    app.state.service = service
    app.include_router(page_routes())
    for router in (
        health.router,
        health.metrics_router,
        corpus.router,
        evidence.router,
        composing.router,
        index.router,
    ):
        app.include_router(router)
    return app
