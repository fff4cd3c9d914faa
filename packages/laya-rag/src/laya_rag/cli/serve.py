"""`laya serve`: the bundle over HTTP, with a page to ask it."""

from __future__ import annotations

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
from laya_rag.cli.output import fail, printable, reporting_errors
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
    from laya_rag.http.audit import AuditLog
    from laya_rag.serving.auth import BearerAuth
    from laya_rag.serving.transport import Transport
    from laya_rag.serving.writing import Writing


@reporting_errors
def serve(
    bundle: BundleSetting = None,
    listen: Annotated[
        str,
        typer.Option(
            help="HOST:PORT or unix:PATH; port 8077 if it is left out.", metavar="ADDRESS"
        ),
    ] = "127.0.0.1",
    tenant: TenantOption = None,
    all_tenants: AllTenantsOption = False,
    min_trust: MinTrustSetting = None,
    allow_writes: Annotated[
        bool, typer.Option("--allow-writes", help="Let callers index and delete.")
    ] = False,
    stack: StackOption = None,
    roots: RootOption = None,
    audit: Annotated[
        Path | None,
        typer.Option(
            help="Record every change there; see laya audit verify. Needs --allow-writes.",
            metavar="FILE",
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="Tokens of callers, as TOML. One token can be in LAYA_SERVE_TOKEN.",
            metavar="FILE",
        ),
    ] = None,
    allow_host: AllowHostOption = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            help="Origin of web pages to accept beside the server's own. May be repeated.",
            metavar="ORIGIN",
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(help="Questions that are answered at the same time.", min=1)
    ] = 2,
    queue: Annotated[
        int, typer.Option(help="Questions that may wait; more are refused.", min=0)
    ] = 32,
    body_limit: Annotated[int, typer.Option(help="Bytes that a request may hold.", min=1)] = 4
    * 1024
    * 1024,
    rate: RateOption = 600,
    rate_window: RateWindowOption = 60.0,
    config: ConfigOption = None,
    sets: SetOption = None,
) -> None:
    """Serve the bundle over HTTP, with a page to ask it in a browser.

    On this machine it answers whoever runs a program here; beyond it, it wants callers with tokens.
    Nothing is changed unless writes are allowed, and then folders to index must lie in a --root;
    without one only the stack's own source is indexed, and only for callers on this machine. A
    token is never an argument, which every user of the machine can read.

    Examples:

        laya serve --bundle .laya/notes
        laya serve --allow-writes --stack stacks/default.yaml --root ~/notes --audit changes.jsonl
        laya serve --listen 0.0.0.0:8077 --token-file tokens.toml --allow-host laya.example:8077

    """  # noqa: D412
    _require_extra()
    settings = load_for(
        bundle=bundle,
        config=config,
        sets=sets,
        tenants=tenant,
        all_tenants=all_tenants,
        min_trust=min_trust,
    ).settings

    from laya_rag.http import DEFAULT_PORT, TOKEN_VARIABLE
    from laya_rag.serving.rate import RateLimiter
    from laya_rag.serving.source import EngineSource
    from laya_rag.serving.transport import transport_for
    from laya_rag.serving.writing import writing_from

    auth = auth_from(token_file, TOKEN_VARIABLE)
    transport = transport_for(listen, DEFAULT_PORT, tokens=auth is not None)
    writing = writing_from(settings.bundle, stack, roots or [], allowed=allow_writes)
    _check_writing(writing, transport, audit)
    source = EngineSource(settings)
    manifest = manifest_of(source, settings, needed=not allow_writes)
    if auth is None and manifest is not None:
        settings.access.access().guards(manifest.tenants is not None)
    log = _audit_log(audit)
    quiet_logs("laya serve")

    import asyncio

    from laya_rag.http.app import http_app
    from laya_rag.serving.web import serve as serve_on

    app = http_app(
        source,
        auth=auth,
        rate=RateLimiter(rate, rate_window) if rate else None,
        writing=writing,
        hosts=allow_host or [],
        origins=allow_origin or [],
        workers=workers,
        waiting=queue,
        body_limit=body_limit,
        audit=log,
    )
    listener = transport.bind()
    _announce(shown(listener) if transport.path is None else f"unix:{transport.path}", auth, log)
    if writing is not None and auth is None:
        fail("whoever runs a program on this machine may change the index")
    asyncio.run(serve_on(app, listener))


def _require_extra() -> None:
    from importlib.util import find_spec

    from laya_rag.errors import MissingExtraError

    if any(find_spec(name) is None for name in ("fastapi", "prometheus_client", "uvicorn")):
        raise MissingExtraError("the HTTP server is not installed: install laya-rag[serve]")


def _check_writing(writing: Writing | None, transport: Transport, audit: Path | None) -> None:
    if writing is None:
        if audit is not None:
            raise typer.BadParameter("--audit records changes: give --allow-writes too")
        return
    if not writing.roots and not transport.loopback:
        raise typer.BadParameter(
            "--allow-writes beyond this machine wants a --root that indexing keeps to"
        )


def _audit_log(path: Path | None) -> AuditLog | None:
    from laya_rag.http.audit import AuditLog

    return None if path is None else AuditLog(path)


def _announce(where: str, auth: BearerAuth | None, log: AuditLog | None) -> None:
    who = "to whoever runs a program on this machine" if auth is None else "to callers with a token"
    typer.echo(f"laya: serving {where} {who}; Ctrl-C ends it", err=True)
    if log is not None:
        state = log.begun
        typer.echo(
            f"laya: {printable(str(log.path))} has {state.entries} lines, head {state.head}",
            err=True,
        )
