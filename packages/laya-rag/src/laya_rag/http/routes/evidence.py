"""Questions and answers: evidence with its verdict, and what an answer rests on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from laya_retrieval.candidate import Candidate
from laya_retrieval.verify.base import Passage

from laya_rag.engine import AskResult, CancelToken, Engine, ExtractResult, SearchResult
from laya_rag.http import schemas
from laya_rag.http.admission import ReadRoute, caller_of
from laya_rag.http.bodies import AdjudicateBody, PassageBody, QueryBody, VerifyBody
from laya_rag.http.documented import problems
from laya_rag.http.service import service_of

R = TypeVar("R")

router = APIRouter(route_class=ReadRoute, tags=["evidence"])

_ASKED = problems("asked")


@router.post("/v1/query", response_model=schemas.AskResult, responses=_ASKED)
async def query(request: Request, body: QueryBody) -> JSONResponse:
    """The evidence for a question, and with which probability it answers it."""
    result: AskResult = await _asked(Engine.ask, request, body)
    service_of(request).metrics.verdict(result.verdict)
    return JSONResponse(result.to_json())


@router.post("/v1/search", response_model=schemas.SearchResult, responses=_ASKED)
async def search(request: Request, body: QueryBody) -> JSONResponse:
    """The best passages, with what each leg gave them; no model judges anything."""
    result: SearchResult = await _asked(Engine.search, request, body)
    return JSONResponse(result.to_json())


@router.post("/v1/extract", response_model=schemas.ExtractResult, responses=_ASKED)
async def extract(request: Request, body: QueryBody) -> JSONResponse:
    """Sentences of the evidence, word for word, or the reason why there are none."""
    result: ExtractResult = await _asked(Engine.extract, request, body)
    service_of(request).metrics.verdict(result.asked.verdict)
    return JSONResponse(result.to_json())


@router.post("/v1/verify", response_model=schemas.VerifyResult, responses=_ASKED)
async def verify(request: Request, body: VerifyBody) -> JSONResponse:
    """What in an answer agrees with its passages: citations, quotes and numbers."""
    access = caller_of(request).access

    def work(engine: Engine, cancel: CancelToken) -> Any:
        return engine.verify(
            body.answer,
            passages=None if body.passages is None else [_passage(item) for item in body.passages],
            records=body.records,
            query=body.query,
            access=access,
            filters=body.filters,
            cancel=cancel,
        )

    result = await service_of(request).ask(request, work)
    return JSONResponse(result.to_json())


@router.post("/v1/adjudicate", response_model=schemas.AdjudicateResult, responses=_ASKED)
async def adjudicate(request: Request, body: AdjudicateBody) -> JSONResponse:
    """Each claim of an answer against the corpus."""
    access = caller_of(request).access

    def work(engine: Engine, cancel: CancelToken) -> Any:
        return engine.adjudicate(body.answer, access=access, filters=body.filters, cancel=cancel)

    result = await service_of(request).ask(request, work)
    return JSONResponse(result.to_json())


async def _asked(method: Callable[..., R], request: Request, body: QueryBody) -> R:
    """A method of the engine that takes a question, for this caller."""
    access = caller_of(request).access

    def work(engine: Engine, cancel: CancelToken) -> R:
        settings = body.settings(engine.settings)
        with body.naming_legs():
            return method(
                engine,
                body.query,
                access=access,
                filters=body.filters,
                settings=settings,
                cancel=cancel,
            )

    return await service_of(request).ask(request, work)


def _passage(given: str | PassageBody) -> Passage:
    if isinstance(given, str):
        return given
    if given.record_id is None:
        return given.text
    return Candidate(given.record_id, 0.0, given.text, {})
