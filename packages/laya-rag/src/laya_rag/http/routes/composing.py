"""Answers in prose, streamed as they are written; only where a language model is set up."""

from __future__ import annotations

from contextlib import closing

from fastapi import APIRouter, Request
from fastapi.responses import Response

from laya_rag.compose import ComposeOffError, EvidenceEvent
from laya_rag.engine import CancelToken
from laya_rag.http import schemas
from laya_rag.http.admission import ReadRoute, caller_of
from laya_rag.http.bodies import ComposeBody
from laya_rag.http.documented import events, problems
from laya_rag.http.failures import failed_event
from laya_rag.http.leaving import while_connected
from laya_rag.http.problems import ProblemError
from laya_rag.http.service import service_of
from laya_rag.http.streams import EventStream, Relay, StreamResponse, media_type_of

router = APIRouter(route_class=ReadRoute, tags=["evidence"])


@router.post(
    "/v1/compose",
    response_class=Response,
    responses={
        200: events(
            "The evidence, pieces of an unverified text, then the result or an error.",
            schemas.ComposeEvent,
        ),
        **problems("streamed"),
    },
)
async def compose(request: Request, body: ComposeBody) -> Response:
    """An answer that a language model writes from the evidence, and what could be checked of it.

    As NDJSON or, by Accept, as server-sent events. What is wrong with the question is a problem
    document; what fails after the evidence is an event.
    """
    service, access = service_of(request), caller_of(request).access
    relay = Relay()

    def work(*, cancel: CancelToken) -> None:
        cancel.check()
        engine = service.engine()
        told = service.compose(
            engine,
            body.query,
            access=access,
            filters=body.filters,
            settings=body.settings(engine.settings),
            adjudicate=body.adjudicate,
            cancel=cancel,
        )
        with closing(told), body.naming_legs():
            try:
                for event in told:
                    if isinstance(event, EvidenceEvent):
                        service.metrics.verdict(event.asked.verdict)
                    relay.put(event.to_json(), cancel)
            except ComposeOffError:
                raise ProblemError(
                    "not_supported", "no language model is set up: see compose.provider"
                ) from None

    stream = EventStream(
        relay,
        service.workers.stoppable(work),
        lambda error: failed_event(error, request.scope),
        heartbeat=service.heartbeat,
    )
    await while_connected(request.receive, stream.begin())
    return StreamResponse(stream, media_type_of(request.headers.get("accept", "")))
