"""The page of `laya serve`: static files of this package, on the origin of the API.

Needs `laya-rag[serve]`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType

from fastapi import APIRouter, HTTPException, Request, Response

#: Types by file name extension; a file of another type is not served.
MEDIA_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "css": "text/css; charset=utf-8",
        "html": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml",
    }
)
#: Nothing but files of this origin, no script or style within the page, no text read as markup.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS: Mapping[str, str] = MappingProxyType(
    {
        # A new version is seen at once; an unchanged file costs a 304.
        "Cache-Control": "no-cache",
        "Content-Security-Policy": POLICY,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
)
_INDEX = "index.html"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page, in memory."""

    body: bytes
    media_type: str
    #: Weak, because what compresses the body on its way keeps the tag.
    tag: str

    @classmethod
    def of(cls, name: str, body: bytes) -> Asset:
        """The file with the type of its name; raises `KeyError` for an unknown extension."""
        media_type = MEDIA_TYPES[name.rpartition(".")[2]]
        return cls(body, media_type, f'W/"{hashlib.sha256(body).hexdigest()[:32]}"')


def page_assets() -> dict[str, Asset]:
    """Every file of the page by its name, as the package has it."""
    folder = resources.files(__package__) / "assets"
    return {
        entry.name: Asset.of(entry.name, entry.read_bytes())
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.is_file()
    }


def page_routes() -> APIRouter:
    """`GET /` and `GET /assets/{name}`.

    The files are read once, here. A name is looked up among them and never becomes a path, so there
    is nothing to escape from; any other name is a 404.
    """
    assets = page_assets()
    router = APIRouter(include_in_schema=False)

    @router.api_route("/", methods=["GET", "HEAD"])
    async def index(request: Request) -> Response:
        return _answer(request, assets[_INDEX])

    @router.api_route("/assets/{name}", methods=["GET", "HEAD"])
    async def asset(request: Request, name: str) -> Response:
        if name == _INDEX or name not in assets:
            raise HTTPException(404, f"the page has no file {name!r}")
        return _answer(request, assets[name])

    return router


def _answer(request: Request, asset: Asset) -> Response:
    headers = {**HEADERS, "ETag": asset.tag}
    if _matches(request.headers.get("if-none-match", ""), asset.tag):
        return Response(status_code=304, headers=headers)
    return Response(asset.body, headers=headers, media_type=asset.media_type)


def _matches(given: str, tag: str) -> bool:
    """Whether an `If-None-Match` names the tag, by weak comparison (RFC 9110, 13.1.2)."""
    tags = {item.strip().removeprefix("W/") for item in given.split(",")}
    return "*" in tags or tag.removeprefix("W/") in tags
