"""For whoever watches over the server: whether it lives, whether it can answer, its numbers."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from laya_rag.http import schemas
from laya_rag.http.admission import ReadRoute, caller_of
from laya_rag.http.documented import problems
from laya_rag.http.metrics import CONTENT_TYPE
from laya_rag.http.problems import ProblemError
from laya_rag.http.readiness import RETRY_AFTER
from laya_rag.http.service import service_of

router = APIRouter(tags=["operation"])
metrics_router = APIRouter(route_class=ReadRoute, tags=["operation"])

_WHY = {
    "starting": "the corpus and the model are being loaded",
    "no_index": "there is no index yet",
    "failed": "the corpus cannot be opened; the operator's log says why",
}


@router.get("/healthz", response_model=schemas.Status, responses=problems("open"))
async def healthz() -> JSONResponse:
    """Whether the process answers at all."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz", response_model=schemas.Status, responses=problems("probe"))
async def readyz(request: Request) -> JSONResponse:
    """Whether there is an index, and the model is loaded."""
    state = service_of(request).readiness.state()
    if state != "ready":
        raise ProblemError("not_ready", _WHY[state], retry_after=RETRY_AFTER)
    return JSONResponse({"status": "ready"})


@metrics_router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {"description": "The numbers.", "content": {CONTENT_TYPE: {}}},
        **problems("guarded"),
    },
)
async def metrics(request: Request) -> Response:
    """Numbers in the text format of Prometheus; not for callers of some tenants."""
    access = caller_of(request).access
    if access is not None and access.tenants:
        raise ProblemError("forbidden", "these are numbers of all tenants together")
    return Response(service_of(request).metrics.exposition(), media_type=CONTENT_TYPE)
