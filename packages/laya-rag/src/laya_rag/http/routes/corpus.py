"""What the corpus holds: its numbers, documents and passages, page by page."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse

from laya_rag.compose import describe
from laya_rag.engine import CancelToken, Engine
from laya_rag.engine.listing import document_json
from laya_rag.engine.passage import chunk_json
from laya_rag.errors import StoreError
from laya_rag.http import schemas
from laya_rag.http.admission import ReadRoute, caller_of
from laya_rag.http.documented import problems
from laya_rag.http.problems import ProblemError, invalid
from laya_rag.http.service import Json, Service, service_of
from laya_rag.serving.auth import Caller

router = APIRouter(route_class=ReadRoute, tags=["corpus"])

_LISTED = problems("listed")
Limit = Annotated[int, Query(ge=1, le=500, description="How many to return at most.")]
Cursor = Annotated[
    str | None, Query(max_length=4000, description="`next` of the page before this one.")
]
DocumentId = Annotated[str, Path(max_length=1000, description="The id of a document.")]


@router.get("/v1/stats", response_model=schemas.Stats, responses=_LISTED)
async def stats(request: Request) -> JSONResponse:
    """How much there is for the caller, and what this server can do."""
    service, caller = service_of(request), caller_of(request)

    def work(engine: Engine) -> Json:
        shown = engine.stats(access=caller.access).to_json()
        gate = engine.settings.gate
        return {
            **shown,
            "compose": describe(engine.settings),
            "gate": {
                "enabled": gate.enabled and engine.settings.second.enabled,
                "relevance": gate.relevance,
                "answerability": gate.answerability,
            },
            "writable": service.writing is not None and "write" in caller.scopes,
            "auth": service.guarded,
        }

    return JSONResponse(await service.run(request, work))


@router.get("/v1/documents", response_model=schemas.DocumentPage, responses=_LISTED)
async def documents(request: Request, limit: Limit = 100, cursor: Cursor = None) -> JSONResponse:
    """Documents by ascending id."""
    service, caller = service_of(request), caller_of(request)

    def work(engine: Engine) -> Json:
        listing = _listing(engine, caller, "documents")
        after = None if cursor is None else service.cursors.read(cursor, listing)
        page = engine.documents(access=caller.access, after=after, limit=limit).to_json()
        return _page(service, page, listing)

    return JSONResponse(await service.run(request, work))


@router.get("/v1/documents/{document_id:path}", response_model=schemas.Document, responses=_LISTED)
async def document(request: Request, document_id: DocumentId) -> JSONResponse:
    """One document; its text is that of its passages."""
    access = caller_of(request).access
    row = await service_of(request).run(
        request, lambda engine: engine.document(document_id, access=access)
    )
    return JSONResponse(document_json(row))


@router.get("/v1/chunks", response_model=schemas.ChunkPage, responses=_LISTED)
async def chunks(
    request: Request,
    document_id: Annotated[
        str | None, Query(max_length=1000, description="All of this document, by ordinal.")
    ] = None,
    record_id: Annotated[
        list[Annotated[str, Query(max_length=1000)]] | None,
        Query(max_length=100, description="Or these, in this order. May be repeated."),
    ] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> JSONResponse:
    """The passages of a document, or those with these ids."""
    service, caller = service_of(request), caller_of(request)
    if (document_id is None) == (record_id is None):
        raise invalid("query", "", "give either document_id or record_id")
    if record_id is not None and cursor is not None:
        raise invalid("query", "/cursor", "is for document_id: records are one page")

    def work(engine: Engine) -> Json:
        if record_id is not None:
            found = engine.records(record_id, access=caller.access)
            return {"chunks": [chunk_json(item) for item in found]}
        wanted = document_id or ""
        listing = _listing(engine, caller, "chunks", wanted)
        after = None if cursor is None else service.cursors.read(cursor, listing)
        page = engine.chunks(wanted, access=caller.access, after=after, limit=limit).to_json()
        return _page(service, page, listing)

    return JSONResponse(await service.run(request, work))


@router.get(
    "/v1/integrity",
    response_model=schemas.Integrity,
    responses=problems("listed", "not_supported"),
)
async def integrity(request: Request) -> JSONResponse:
    """Whether the index is whole, and what it holds twice; not for callers of some tenants."""
    access = caller_of(request).access

    def work(engine: Engine, cancel: CancelToken) -> Json:
        try:
            return engine.integrity(access=access, cancel=cancel).as_json()
        except StoreError:
            raise ProblemError(
                "not_supported", "the corpus is in a store: check its bundle"
            ) from None

    shown = await service_of(request).ask(request, work)
    del shown["bundle"]  # a path of this machine
    return JSONResponse(shown)


def _listing(engine: Engine, caller: Caller, *what: str) -> list[Any]:
    """What a cursor belongs to: the listing, who looks at it, and the corpus as they see it."""
    corpus = engine.identity(access=caller.access)
    return [*what, caller.name, corpus.to_json()]


def _page(service: Service, page: Json, listing: list[Any]) -> Json:
    after = page.pop("after")
    return {**page, "next": None if after is None else service.cursors.make(after, listing)}
