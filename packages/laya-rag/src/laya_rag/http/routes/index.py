"""Changes of the index: run it anew, take documents out, delete it."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

from fastapi import APIRouter, Header, Request
from fastapi.responses import JSONResponse, Response
from laya_index.delete import DeleteReport
from laya_index.errors import BundleError, LockedError, ManifestError
from laya_index.process import RunReport

from laya_rag.engine import CancelToken
from laya_rag.http import schemas
from laya_rag.http.admission import WriteRoute
from laya_rag.http.bodies import DeleteBody, IndexBody, ResetBody
from laya_rag.http.changes import Change, ChangeRun
from laya_rag.http.documented import events, problems
from laya_rag.http.failures import failed_event
from laya_rag.http.leaving import while_connected
from laya_rag.http.problems import ProblemError, invalid
from laya_rag.http.service import Json, service_of
from laya_rag.http.streams import EventStream, Relay, StreamResponse, media_type_of
from laya_rag.serving import errors as serving
from laya_rag.serving.writing import Progress, Writing

router = APIRouter(route_class=WriteRoute, tags=["index"])

_WRITTEN = problems("written")
# Progress is told so often at most; a stage's beginning always.
_PAUSE = 0.1
_REPLAYED = {"Idempotency-Replayed": "true"}

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
        description="The same key with the same request is answered as before, and done once.",
    ),
]


@router.post(
    "/v1/index",
    response_model=schemas.IndexReport,
    responses=problems("written", "would_remove", "not_supported"),
)
async def index(request: Request, body: IndexBody, key: Key = None) -> Response:
    """Build or update the index by the operator's stack, and say what changed."""
    return await _changed(request, _indexing(body), key)


@router.post(
    "/v1/index/stream",
    response_class=Response,
    responses={
        200: events("Progress, then the result or an error.", schemas.IndexEvent),
        **problems("written", "would_remove", "not_supported"),
    },
)
async def index_stream(request: Request, body: IndexBody, key: Key = None) -> Response:
    """The same with its progress, as NDJSON or, by Accept, as server-sent events."""
    run = ChangeRun(request, _indexing(body), key)
    relay = Relay()
    replayed = run.replayed

    async def work() -> Json:
        done = replayed or await run.run(_told(relay))
        return {"event": "result", **done}

    task = asyncio.ensure_future(work())
    task.add_done_callback(lambda _: run.claim.give_up())
    stream = EventStream(
        relay,
        task,
        lambda error: failed_event(error, request.scope),
        heartbeat=service_of(request).heartbeat,
    )
    await while_connected(request.receive, stream.begin())
    return StreamResponse(
        stream,
        media_type_of(request.headers.get("accept", "")),
        None if replayed is None else _REPLAYED,
    )


@router.delete("/v1/index", response_model=schemas.Reset, responses=_WRITTEN)
async def reset(request: Request, body: ResetBody, key: Key = None) -> Response:  # noqa: ARG001
    """Delete the index and what was derived from it."""

    def work(writing: Writing, cancel: CancelToken, progress: Progress) -> Json:  # noqa: ARG001
        try:
            writing.reset()
        except ManifestError:
            raise ProblemError("not_found", "there is no index") from None
        return {"state": "deleted"}

    return await _changed(request, Change("reset", {}, work), key)


@router.delete(
    "/v1/documents",
    response_model=schemas.DeleteReport,
    responses=problems("written", "needs_next_run"),
)
async def delete(request: Request, body: DeleteBody, key: Key = None) -> Response:
    """Take documents out of the index and keep them out, as `laya delete` does."""

    def work(writing: Writing, cancel: CancelToken, progress: Progress) -> Json:
        try:
            report = writing.delete(
                body.ids,
                body.paths,
                next_run=body.next_run,
                dry_run=body.dry_run,
                cancel=cancel,
                progress=progress,
            )
        except ManifestError:
            raise ProblemError("not_found", "there is no index") from None
        except LockedError:
            raise
        except BundleError:
            if body.next_run:
                raise
            raise ProblemError(
                "needs_next_run",
                "what the index holds of other documents depends on these: send next_run, "
                "and index again",
            ) from None
        return _delete_report(report)

    details = body.model_dump(mode="json")
    return await _changed(request, Change("delete", details, work, body.dry_run), key)


def _indexing(body: IndexBody) -> Change:
    def work(writing: Writing, cancel: CancelToken, progress: Progress) -> Json:
        try:
            report = writing.index(
                body.folder,
                dry_run=body.dry_run,
                remove_missing=body.remove_missing,
                cancel=cancel,
                progress=progress,
            )
        except serving.NotFoundError:
            raise ProblemError(
                "not_supported", "the operator named no stack to index with"
            ) from None
        except serving.InvalidArgumentsError as error:
            field, _, detail = str(error).partition(": ")
            if field == "remove_missing":
                raise ProblemError("would_remove", detail) from None
            raise invalid("body", f"/{field}", detail) from None
        return _index_report(report)

    return Change("index", body.model_dump(mode="json"), work, body.dry_run)


async def _changed(request: Request, change: Change, key: str | None) -> Response:
    run = ChangeRun(request, change, key)
    if run.replayed is not None:
        return JSONResponse(run.replayed, headers=_REPLAYED)
    try:
        return JSONResponse(await while_connected(request.receive, run.run(_unseen)))
    finally:
        run.claim.give_up()


def _unseen(done: float, total: float | None, what: str) -> None:
    """Progress that nobody looks at."""


def _told(relay: Relay) -> Progress:
    """Progress as events: each stage, and how far it is from time to time."""
    last, stage = 0.0, ""

    def tell(done: float, total: float | None, what: str) -> None:
        nonlocal last, stage
        now = time.monotonic()
        if what == stage and now < last + _PAUSE:
            return
        last, stage = now, what
        relay.offer({"event": "progress", "stage": what, "done": done, "total": total})

    return tell


def _index_report(report: RunReport) -> Json:
    return {
        "state": report.state,
        "stack": report.stack,
        "documents": report.documents,
        "chunks": report.chunks,
        "added": report.added,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "bytes": report.bytes,
        "skipped": dict(report.skipped),
        "redactions": dict(report.redactions),
        "seconds": {name: round(value, 4) for name, value in report.seconds.items()},
    }


def _delete_report(report: DeleteReport) -> Json:
    return {
        "state": report.state,
        "deleted": list(report.deleted),
        "listed": list(report.listed),
        "excluded": len(report.excluded),
        "documents": report.documents,
        "chunks": report.chunks,
    }
