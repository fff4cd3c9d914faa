"""`laya stats`: what a bundle holds, as far as one caller may see it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from laya_rag.cli.finding import JsonOption, Opened
from laya_rag.cli.options import ViewOptions, shared_options
from laya_rag.cli.output import console, print_json, printable, reporting_errors, size

if TYPE_CHECKING:
    from laya_rag.engine.listing import CorpusStats


@shared_options
@reporting_errors
def stats(
    *,
    view: ViewOptions,
    as_json: JsonOption = False,
) -> None:
    """Show how much a bundle holds, with which signals and models, in which trust tiers.

    Numbers are of what the caller may see. Sizes, tenants and what was skipped or redacted belong
    to the bundle as a whole and are left out for a caller who sees some tenants only.

    Examples:

        laya stats
        laya stats --bundle .laya/mail --tenant acme --json

    """  # noqa: D412
    opened = view.open()
    with opened.engine as engine:
        found = engine.stats()
        tiers = _tiers(opened)
    if as_json:
        result = found.to_json()
        bundle_json = {"path": opened.bundle, **result["bundle"]}
        print_json({**result, "bundle": bundle_json, "tiers": tiers})
    else:
        _print(opened, found, tiers)


def _tiers(opened: Opened) -> dict[str, int]:
    """Chunks by trust tier, of the tiers that the caller accepts."""
    from laya_retrieval.guard import TrustFilter

    access = opened.engine.settings.access.access()
    known = list(TrustFilter().tiers)
    accepted = known[known.index(access.min_trust) :]
    # A view shows everything from a tier on; what it shows beyond the next one is that tier's.
    from_tier = [
        opened.engine.stats(access=replace(access, min_trust=tier)).chunks for tier in accepted
    ]
    above = [*from_tier[1:], 0]
    counts = (here - more for here, more in zip(from_tier, above, strict=True))
    return dict(zip(accepted, counts, strict=True))


def _print(opened: Opened, found: CorpusStats, tiers: dict[str, int]) -> None:
    from rich.table import Table

    rows: list[tuple[str, Any]] = [
        ("bundle", opened.bundle),
        ("stack", f"{found.corpus.stack} {found.corpus.stack_hash}"),
        ("documents", found.documents),
        ("passages", found.chunks),
        ("trust", ", ".join(f"{count} {tier}" for tier, count in tiers.items())),
    ]
    rows += [(f"leg {leg}", found.models.get(leg, "")) for leg in found.legs]
    whole = found.whole
    if whole is not None:
        counts = whole.counts
        rows.append(
            ("size", f"{size(sum(e.bytes for e in whole.files))}, {len(whole.files)} files")
        )
        rows.append(("terms", counts.terms))
        if whole.tenants is not None:
            rows.append(("tenants", ", ".join(whole.tenants) or "none"))
        for label, by_name in (("skipped", counts.skipped), ("redacted", counts.redactions)):
            if by_name:
                rows.append((label, ", ".join(f"{n} {name}" for name, n in by_name.items())))
        if whole.excluded:
            rows.append(("deleted", f"{len(whole.excluded)}, see laya delete --list"))
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in rows:
        table.add_row(printable(name), printable(str(value)))
    console().print(table)
