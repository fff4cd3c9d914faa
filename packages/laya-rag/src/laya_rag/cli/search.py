"""`laya search`: the passages that a bundle has on a question."""

from __future__ import annotations

from typing import Annotated

import typer

from laya_rag.cli.finding import (
    DEFAULT_BUNDLE,
    AllTenantsOption,
    BundleOption,
    DepthOption,
    Found,
    JsonOption,
    LegOption,
    MinTrustOption,
    QueryArgument,
    TenantOption,
    bundle_json,
    find,
    passage_json,
    print_passage,
    withheld_note,
)
from laya_rag.cli.output import console, print_json, reporting_errors


@reporting_errors
def search(
    query: QueryArgument,
    bundle: BundleOption = DEFAULT_BUNDLE,
    top: Annotated[int, typer.Option("--top", "-k", help="Passages to show.", min=1)] = 5,
    depth: DepthOption = 20,
    leg: LegOption = None,
    tenant: TenantOption = None,
    all_tenants: AllTenantsOption = False,
    min_trust: MinTrustOption = "untrusted",
    as_json: JsonOption = False,
) -> None:
    """Search a bundle with all of its legs, fused by reciprocal rank.

    Every passage comes with its file, its headings, its place in the document (characters), and
    what each leg gave it: rank, score, and contribution to the fused score.

    Examples:
        laya search "how does an incremental run stay byte-identical"
        laya search "trust tiers" --leg bm25 --top 3 --json

    """
    found = find(
        query,
        bundle,
        keep=top,
        depth=depth,
        legs=leg,
        tenants=tenant,
        all_tenants=all_tenants,
        min_trust=min_trust,
    )
    if not as_json:
        _print(found)
        return
    print_json(
        {
            "query": query,
            "bundle": bundle_json(found),
            "legs": list(found.result.fetched_modes),
            "removed": dict(found.result.removed),
            "results": [
                passage_json(rank, candidate)
                for rank, candidate in enumerate(found.result.candidates, start=1)
            ],
            "seconds": {
                "open": round(found.open_seconds, 4),
                "search": round(found.search_seconds, 4),
            },
        }
    )


def _print(found: Found) -> None:
    screen = console()
    candidates = found.result.candidates
    for rank, candidate in enumerate(candidates, start=1):
        print_passage(screen, f"{rank}.", candidate)
    plural = "" if len(candidates) == 1 else "s"
    what = f"{len(candidates)} passage{plural}" if candidates else "nothing found"
    chunks = found.backend.manifest.counts.chunks
    spent = f"{found.search_seconds * 1000:.0f} ms"
    screen.print(f"{what} of {chunks} chunks in {spent}{withheld_note(found)}", style="dim")
