"""What the commands that serve share: their options, and how they start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from laya_index.bundle.manifest import Manifest

    from laya_rag.config import Settings
    from laya_rag.serving.auth import BearerAuth
    from laya_rag.serving.source import EngineSource

StackOption = Annotated[
    Path | None, typer.Option(help="Stack file to index with; needs --allow-writes.")
]
RootOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--root",
        help="Folder that may be indexed, with what is below it. May be repeated.",
        metavar="DIR",
    ),
]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Host header to accept beside loopback, with its port, or with :* for any. May be "
        "repeated.",
        metavar="HOST",
    ),
]
RateOption = Annotated[
    int, typer.Option(help="Calls that one caller may make in --rate-window; 0: any.", min=0)
]
RateWindowOption = Annotated[
    float, typer.Option(help="Seconds that --rate counts over.", min=0.001)
]


def auth_from(token_file: Path | None, variable: str) -> BearerAuth | None:
    """The callers of a token file, or the one whose token is in the variable; None for neither."""
    from laya_rag.serving.auth import BearerAuth

    if token_file is not None:
        return BearerAuth.from_file(token_file)
    return BearerAuth.from_environment(variable)


def manifest_of(source: EngineSource, settings: Settings, *, needed: bool) -> Manifest | None:
    """What the corpus is, without opening a bundle; None where there is none yet.

    Raises `ManifestError` where there is none and one is `needed`.
    """
    from laya_index.bundle.manifest import read_manifest

    if "://" in settings.bundle:
        return source.engine().backend.manifest
    if source.missing() and not needed:
        return None
    return read_manifest(Path(settings.bundle))


def quiet_logs(command: str) -> None:
    """Warnings and errors to standard error; requests are not logged."""
    import logging

    logging.basicConfig(level=logging.WARNING, format=f"{command}: %(name)s: %(message)s")


def shown(listener: Any) -> str:
    """The URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
