"""`laya search`: the passages that a bundle has on a question."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laya_rag.cli.output import console, print_json, printable, reporting_errors

if TYPE_CHECKING:
    from laya_retrieval.candidate import Candidate

DEFAULT_BUNDLE = Path(".laya/default")


@reporting_errors
def search(
    query: Annotated[str, typer.Argument(help="What to look for; plain text, no operators.")],
    bundle: Annotated[
        Path, typer.Option("--bundle", "-b", help="The bundle's folder.")
    ] = DEFAULT_BUNDLE,
    top: Annotated[int, typer.Option("--top", "-k", help="Passages to show.", min=1)] = 5,
    depth: Annotated[int, typer.Option(help="Candidates to take from each leg.", min=1)] = 20,
    leg: Annotated[
        list[str] | None, typer.Option(help="Only this leg: bm25 or dense. May be repeated.")
    ] = None,
    tenant: Annotated[
        list[str] | None,
        typer.Option(help="Only what this tenant may see; needed where a bundle has tenants."),
    ] = None,
    all_tenants: Annotated[
        bool, typer.Option("--all-tenants", help="See every tenant's passages.")
    ] = False,
    min_trust: Annotated[
        str, typer.Option(help="Least trust tier: quarantined, untrusted or trusted.")
    ] = "untrusted",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Search a bundle with all of its legs, fused by reciprocal rank.

    Every passage comes with its file, its headings, its place in the document (characters), and
    what each leg gave it: rank, score, and contribution to the fused score.

    Examples:
        laya search "how does an incremental run stay byte-identical"
        laya search "trust tiers" --leg bm25 --top 3 --json

    """
    from laya_retrieval.fuse.rrf import RrfFuser
    from laya_retrieval.guard import TenantFilter, TrustFilter
    from laya_retrieval.retrieve.pipeline import OrchestrationPipeline, retrieve

    from laya_rag.backend.bundle import BundleBackend
    from laya_rag.errors import RagError

    if not query.strip():
        raise typer.BadParameter("the query is blank")
    started = time.perf_counter()
    backend = BundleBackend(bundle)
    guards: list[Any] = [TrustFilter(min_trust)]
    tenants = backend.manifest.tenants
    if tenant:
        guards.append(TenantFilter(tenant))
    elif tenants is not None and not all_tenants:
        raise RagError(
            f"bundle {str(bundle)!r} keeps tenants apart: name one with --tenant, "
            "or see everything with --all-tenants"
        )
    opened = time.perf_counter()
    result = retrieve(
        backend.query(query, depth=depth, modes=leg),
        backend,
        OrchestrationPipeline(fuser=RrfFuser(explain=True), final_top_k=top, guards=guards),
    )
    done = time.perf_counter()
    if as_json:
        print_json(
            {
                "query": query,
                "bundle": {
                    "path": str(bundle),
                    "stack": backend.manifest.stack.name,
                    "stack_hash": backend.manifest.stack.hash,
                },
                "legs": list(result.fetched_modes),
                "removed": dict(result.removed),
                "results": [
                    _as_json(rank, candidate)
                    for rank, candidate in enumerate(result.candidates, start=1)
                ],
                "seconds": {
                    "open": round(opened - started, 4),
                    "search": round(done - opened, 4),
                },
            }
        )
    else:
        _print(result.candidates, result.removed, done - opened, backend.manifest.counts.chunks)


def _as_json(rank: int, candidate: Candidate) -> dict[str, Any]:
    metadata = candidate.metadata
    return {
        "rank": rank,
        "record_id": candidate.id,
        "score": candidate.score,
        "document_id": metadata["document_id"],
        "title": metadata["title"],
        "heading_path": metadata["heading_path"],
        "start": metadata["start"],
        "end": metadata["end"],
        "trust_tier": metadata["trust_tier"],
        "text": candidate.text,
        "legs": [
            {
                "leg": part.leg,
                "rank": int(part.rank),
                "score": part.score,
                "contribution": part.contribution,
            }
            for part in metadata["fusion"]
        ],
    }


def _print(candidates: Any, removed: Any, seconds: float, chunks: int) -> None:
    from rich.padding import Padding
    from rich.text import Text

    screen = console()
    for rank, candidate in enumerate(candidates, start=1):
        metadata = candidate.metadata
        headings = metadata["heading_path"] or [metadata["title"]]
        place = " › ".join([metadata["document_id"], *headings])
        head = Text(f"{rank}. ", style="bold")
        head.append(printable(place), style="bold cyan")
        screen.print(head)
        span = f"characters {metadata['start']}–{metadata['end']}"
        screen.print(Text(f"   {span}, score {candidate.score:.5f}", style="dim"))
        for part in metadata["fusion"]:
            parts = f"rank {int(part.rank)}, score {part.score:.3f}, +{part.contribution:.5f}"
            screen.print(Text(f"   {part.leg:<6} {parts}", style="dim"))
        screen.print(Padding(Text(_excerpt(candidate.text)), (0, 0, 1, 3)))
    withheld = sum(removed.values())
    note = f"; {withheld} withheld by trust or tenant" if withheld else ""
    plural = "" if len(candidates) == 1 else "s"
    found = f"{len(candidates)} passage{plural}" if candidates else "nothing found"
    screen.print(Text(f"{found} of {chunks} chunks in {seconds * 1000:.0f} ms{note}", style="dim"))


def _excerpt(text: str, length: int = 320) -> str:
    flat = printable(" ".join(text.split()))
    if len(flat) <= length:
        return flat
    return flat[:length].rsplit(" ", 1)[0] + " …"
