"""`laya mcp`: the tools for agents, over standard input and output or HTTP."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from laya_rag.cli.finding import (
    AllTenantsOption,
    BundleSetting,
    ConfigOption,
    MinTrustSetting,
    SetOption,
    TenantOption,
    load_for,
)
from laya_rag.cli.output import INTERRUPTED, fail, reporting_errors
from laya_rag.cli.serving import (
    AllowHostOption,
    RateOption,
    RateWindowOption,
    RootOption,
    StackOption,
    auth_from,
    manifest_of,
    quiet_logs,
    shown,
)

if TYPE_CHECKING:
    from laya_index.bundle.manifest import Manifest
    from laya_retrieval.retrieve.backend import Capability

    from laya_rag.mcp.core import RetrievalServer
    from laya_rag.mcp.wording import ServerCopy
    from laya_rag.serving.source import EngineSource


@reporting_errors
def mcp(
    bundle: BundleSetting = None,
    http: Annotated[
        str | None,
        typer.Option(
            help="Serve HTTP there instead, at /mcp. HOST:PORT or unix:PATH; port 8078 if it is "
            "left out.",
            metavar="ADDRESS",
        ),
    ] = None,
    connect: Annotated[
        str | None,
        typer.Option(
            help="Pass every call on to a running `laya mcp --http`: its URL, or unix:PATH.",
            metavar="URL",
        ),
    ] = None,
    tenant: TenantOption = None,
    all_tenants: AllTenantsOption = False,
    min_trust: MinTrustSetting = None,
    allow_writes: Annotated[
        bool, typer.Option("--allow-writes", help="Offer tools that index and that delete.")
    ] = False,
    stack: StackOption = None,
    roots: RootOption = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="Tokens of callers over HTTP, as TOML. One token can be in LAYA_MCP_TOKEN.",
            metavar="FILE",
        ),
    ] = None,
    allow_host: AllowHostOption = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            help="Origin of web pages to accept beside loopback. May be repeated.",
            metavar="ORIGIN",
        ),
    ] = None,
    copy: Annotated[
        Path | None,
        typer.Option(help="Your own instructions and tool descriptions, as TOML.", metavar="FILE"),
    ] = None,
    rate: RateOption = 120,
    rate_window: RateWindowOption = 60.0,
    config: ConfigOption = None,
    sets: SetOption = None,
) -> None:
    """Offer the bundle to agents, in the Model Context Protocol.

    An agent host starts this command and talks to it over standard input and output. With `--http`
    it serves many at once; beyond this machine only to callers with a token. With `--connect` it
    passes the calls on to such a service. Everything that it offers reads, unless writes are
    switched on. A token is never an argument, which every user of the machine can read.

    Examples:

        laya mcp --bundle .laya/notes
        laya mcp --http 127.0.0.1:8078 --token-file tokens.toml
        laya mcp --connect http://127.0.0.1:8078/mcp

    """  # noqa: D412
    _require_sdk()
    if connect is not None:
        given = (bundle, http, stack, token_file, copy, config, sets, roots, tenant, min_trust)
        if any(given) or all_tenants or allow_writes or allow_host or allow_origin:
            raise typer.BadParameter("--connect stands alone: the service has its own options")
        _connect(connect)
        return
    if http is None and (token_file or allow_host or allow_origin):
        raise typer.BadParameter("--token-file, --allow-host and --allow-origin are for --http")
    settings = load_for(
        bundle=bundle,
        config=config,
        sets=sets,
        tenants=tenant,
        all_tenants=all_tenants,
        min_trust=min_trust,
    ).settings

    from laya_rag.mcp import TOKEN_VARIABLE
    from laya_rag.mcp.core import RetrievalServer
    from laya_rag.serving.rate import RateLimiter
    from laya_rag.serving.source import EngineSource
    from laya_rag.serving.writing import writing_from

    auth = auth_from(token_file, TOKEN_VARIABLE) if http is not None else None
    if http is not None and auth is None and allow_writes:
        raise typer.BadParameter("--allow-writes over --http wants callers with tokens")
    writing = writing_from(settings.bundle, stack, roots or [], allowed=allow_writes)
    source = EngineSource(settings)
    manifest = manifest_of(source, settings, needed=not allow_writes)
    if auth is None and manifest is not None:
        settings.access.access().guards(manifest.tenants is not None)
    core = RetrievalServer(
        source,
        auth=auth,
        rate=RateLimiter(rate, rate_window) if rate else None,
        copy=_copy(copy, manifest),
        writing=writing,
    )
    if http is None:
        _stdio(core, source)
    else:
        _http(core, source, http, allow_host or [], allow_origin or [])


def _require_sdk() -> None:
    from importlib.util import find_spec

    from laya_rag.errors import MissingExtraError

    if find_spec("mcp") is None:
        raise MissingExtraError("the MCP SDK is not installed: install laya-rag[mcp]")


def _copy(path: Path | None, manifest: Manifest | None) -> ServerCopy:
    from laya_rag.mcp.core import USUAL
    from laya_rag.mcp.wording import ServerCopy

    capabilities = USUAL if manifest is None else _capabilities(manifest)
    if path is None:
        return ServerCopy.build(capabilities)
    return ServerCopy.from_file(Path(path.name), capabilities, path.parent)


def _capabilities(manifest: Manifest) -> frozenset[Capability]:
    from laya_retrieval.retrieve.backend import Capability

    named = {
        Capability.BM25: manifest.bm25 is not None,
        Capability.DENSE: bool(manifest.embeddings),
        Capability.SPARSE: "sparse" in manifest.signals,
        Capability.MULTIVECTOR: "multivector" in manifest.signals,
        Capability.FILTER: True,
    }
    return frozenset(capability for capability, there in named.items() if there)


def _open_early(source: EngineSource) -> None:
    """Open the bundle while the agent still reads the list of tools; errors wait for a call."""
    from laya_index.errors import IndexingError

    from laya_rag.errors import RagError

    def open_it() -> None:
        with suppress(IndexingError, RagError):
            source.engine()

    if not source.missing():
        threading.Thread(target=open_it, daemon=True, name="laya-open").start()


def _stdio(core: RetrievalServer, source: EngineSource) -> None:
    import asyncio

    from laya_rag.mcp.sdk import sdk_server
    from laya_rag.mcp.stdio import serve_stdio

    quiet_logs("laya mcp")
    _open_early(source)
    _end_on_interrupt()
    asyncio.run(serve_stdio(sdk_server(core)))
    core.close()


def _http(
    core: RetrievalServer,
    source: EngineSource,
    address: str,
    hosts: list[str],
    origins: list[str],
) -> None:
    import asyncio

    from laya_rag.mcp.http import DEFAULT_PORT, PATH, http_app
    from laya_rag.serving.transport import transport_for
    from laya_rag.serving.web import serve

    quiet_logs("laya mcp")
    transport = transport_for(address, DEFAULT_PORT, tokens=core.auth is not None)
    app = http_app(core, hosts=hosts, origins=origins)
    listener = transport.bind()
    _open_early(source)
    fail(f"serving MCP at {shown(listener)}{PATH}" if transport.path is None else "serving MCP")
    asyncio.run(serve(app, listener))
    core.close()


def _end_on_interrupt() -> None:
    """Let Ctrl-C end the process at once.

    A thread waits for a line on standard input, and nothing else ends that wait. Nothing is lost:
    an index run that is cut short leaves the bundle as it was.
    """
    import os
    import signal

    def end(number: int, frame: object) -> None:  # noqa: ARG001
        fail("interrupted")
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, end)


def _connect(url: str) -> None:
    import asyncio
    import os

    from laya_rag.mcp import TOKEN_VARIABLE
    from laya_rag.mcp.proxy import Service, proxy_server
    from laya_rag.mcp.stdio import serve_stdio

    async def run() -> None:
        async with Service(url, os.environ.get(TOKEN_VARIABLE)).client() as client:
            await serve_stdio(proxy_server(client))

    quiet_logs("laya mcp")
    _end_on_interrupt()
    asyncio.run(run())
