"""What `laya search` and `laya ask` share: opening a bundle, searching it, showing passages."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laya_rag.cli.output import printable

if TYPE_CHECKING:
    from laya_retrieval.candidate import Candidate
    from laya_retrieval.retrieve.pipeline import RetrievalResult
    from rich.console import Console

    from laya_rag.backend.bundle import BundleBackend

DEFAULT_BUNDLE = Path(".laya/default")

QueryArgument = Annotated[str, typer.Argument(help="What to look for; plain text, no operators.")]
BundleOption = Annotated[Path, typer.Option("--bundle", "-b", help="The bundle's folder.")]
DepthOption = Annotated[int, typer.Option(help="Candidates to take from each leg.", min=1)]
LegOption = Annotated[
    list[str] | None, typer.Option(help="Only this leg: bm25 or dense. May be repeated.")
]
TenantOption = Annotated[
    list[str] | None,
    typer.Option(help="Only what this tenant may see; needed where a bundle has tenants."),
]
AllTenantsOption = Annotated[
    bool, typer.Option("--all-tenants", help="See every tenant's passages.")
]
MinTrustOption = Annotated[
    str, typer.Option(help="Least trust tier: quarantined, untrusted or trusted.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@dataclass(frozen=True, slots=True)
class Found:
    """A search that was run: the bundle, the candidates, and the seconds that it took."""

    backend: BundleBackend
    result: RetrievalResult
    open_seconds: float
    search_seconds: float


def find(
    query: str,
    bundle: Path,
    *,
    keep: int,
    depth: int,
    legs: list[str] | None,
    tenants: list[str] | None,
    all_tenants: bool,
    min_trust: str,
) -> Found:
    """Search `bundle` with every leg, fused by reciprocal rank; `keep` candidates come back.

    Raises `RagError` for a bundle that keeps tenants apart when none is named.
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
    if tenants:
        guards.append(TenantFilter(tenants))
    elif backend.manifest.tenants is not None and not all_tenants:
        raise RagError(
            f"bundle {str(bundle)!r} keeps tenants apart: name one with --tenant, "
            "or see everything with --all-tenants"
        )
    opened = time.perf_counter()
    result = retrieve(
        backend.query(query, depth=depth, modes=legs),
        backend,
        OrchestrationPipeline(fuser=RrfFuser(explain=True), final_top_k=keep, guards=guards),
    )
    return Found(backend, result, opened - started, time.perf_counter() - opened)


def bundle_json(found: Found) -> dict[str, Any]:
    """Which bundle answered."""
    stack = found.backend.manifest.stack
    return {"path": str(found.backend.path), "stack": stack.name, "stack_hash": stack.hash}


def passage_json(rank: int, candidate: Candidate) -> dict[str, Any]:
    """A passage with its place and what each leg gave it."""
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


def print_passage(screen: Console, label: str, candidate: Candidate, note: str = "") -> None:
    """A passage on the screen: place, what each leg gave it, and how it begins."""
    from rich.padding import Padding
    from rich.text import Text

    metadata = candidate.metadata
    headings = metadata["heading_path"] or [metadata["title"]]
    head = Text(f"{label} ", style="bold")
    head.append(printable(" › ".join([metadata["document_id"], *headings])), style="bold cyan")
    screen.print(head)
    span = f"characters {metadata['start']}–{metadata['end']}, score {candidate.score:.5f}"
    screen.print(Text(f"   {span}{note}", style="dim"))
    for part in metadata["fusion"]:
        parts = f"rank {int(part.rank)}, score {part.score:.3f}, +{part.contribution:.5f}"
        screen.print(Text(f"   {part.leg:<6} {parts}", style="dim"))
    screen.print(Padding(Text(_excerpt(candidate.text)), (0, 0, 1, 3)))


def withheld_note(found: Found) -> str:
    """How many passages trust and tenant filters removed, if any."""
    withheld = sum(found.result.removed.values())
    return f"; {withheld} withheld by trust or tenant" if withheld else ""


def _excerpt(text: str, length: int = 320) -> str:
    flat = printable(" ".join(text.split()))
    if len(flat) <= length:
        return flat
    return flat[:length].rsplit(" ", 1)[0] + " …"
