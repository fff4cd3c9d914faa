"""What the commands that search share: their options, opening the engine, showing passages."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laya_rag.cli.output import console, printable

if TYPE_CHECKING:
    from laya_retrieval.candidate import Candidate
    from laya_retrieval.verify.injection import InjectionFlag
    from rich.console import Console

    from laya_rag.config import Flag, LoadedSettings
    from laya_rag.engine import Engine, Passage

DEFAULT_BUNDLE = Path(".laya/default")

BUNDLE = typer.Option("--bundle", "-b", help="The bundle's folder (.laya/default).")
DEPTH = typer.Option(help="Candidates to take from each leg (20).", min=1)
LEG = typer.Option(help="Only this leg, such as bm25 or dense. May be repeated.")
TENANT = typer.Option(help="Only what this tenant may see; needed where a bundle has tenants.")
ALL_TENANTS = typer.Option("--all-tenants", help="See every tenant's passages.")
MIN_TRUST = typer.Option(
    help="Least trust tier: quarantined, untrusted or trusted (untrusted).", show_default=False
)


def _not_blank(query: str) -> str:
    """The query, which must not be blank."""
    if not query.strip():
        raise typer.BadParameter("the query is blank")
    return query


QueryArgument = Annotated[
    str, typer.Argument(help="What to look for; plain text, no operators.", callback=_not_blank)
]
BundleOption = Annotated[Path, BUNDLE]
DepthOption = Annotated[int, DEPTH]
LegOption = Annotated[list[str] | None, LEG]
TenantOption = Annotated[list[str] | None, TENANT]
AllTenantsOption = Annotated[bool, ALL_TENANTS]
MinTrustOption = Annotated[str, MIN_TRUST]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

# The same, where what is not given comes from the settings.
BundleSetting = Annotated[
    str | None,
    typer.Option(
        "--bundle", "-b", help="The bundle's folder, or a store's address (.laya/default)."
    ),
]
DepthSetting = Annotated[int | None, DEPTH]
MinTrustSetting = Annotated[str | None, MIN_TRUST]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="Settings file (laya.toml of this folder, if there is one)."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Any setting, such as search.iterate=true. May be repeated.",
        metavar="KEY=VALUE",
    ),
]


@dataclass(frozen=True, slots=True)
class Opened:
    """An engine over the wanted bundle, and how long it took to open."""

    engine: Engine
    bundle: str
    filters: Mapping[str, Any] | None
    seconds: float

    def as_json(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """A result's JSON with what only this machine knows: the folder, the time to open it."""
        bundle = {"path": self.bundle, **(result["bundle"] or {})}
        seconds = {"open": round(self.seconds, 4), **result["seconds"]}
        return {**result, "bundle": bundle, "seconds": seconds}


def load(
    config: Path | None, sets: Sequence[str] | None, given: Mapping[str, tuple[str, Any]]
) -> LoadedSettings:
    """The settings in force; `given` are setting and value by the option that gave them.

    A value of None was not given. Raises `SettingsError`, see `load_settings`.
    """
    from laya_rag.config import Flag, load_settings

    flags: list[Flag] = [
        Flag(key, value, option) for option, (key, value) in given.items() if value is not None
    ]
    return load_settings(file=config, flags=[*flags, *map(Flag.parse, sets or ())])


def load_for(
    *,
    bundle: str | None,
    config: Path | None,
    sets: Sequence[str] | None,
    tenants: Sequence[str] | None,
    all_tenants: bool,
    min_trust: str | None,
    given: Mapping[str, tuple[str, Any]] | None = None,
) -> LoadedSettings:
    """The settings in force, with the options that say which corpus and who asks."""
    access: dict[str, tuple[str, Any]] = {"--min-trust": ("access.min_trust", min_trust)}
    if tenants or all_tenants:
        # Whoever says who asks says all of it, whatever a file says.
        access["--tenant"] = ("access.tenants", list(tenants or ()))
        access["--all-tenants"] = ("access.all_tenants", all_tenants)
    return load(config, sets, {"--bundle": ("bundle", bundle), **access, **(given or {})})


def open_engine(
    *,
    bundle: str | None,
    config: Path | None,
    sets: Sequence[str] | None,
    tenants: Sequence[str] | None,
    all_tenants: bool,
    min_trust: str | None,
    filters: str | None = None,
    given: Mapping[str, tuple[str, Any]],
) -> Opened:
    """Open the engine with the settings in force; raises as `load` and `Engine.open` do."""
    from laya_rag.engine import Engine

    settings = load_for(
        bundle=bundle,
        config=config,
        sets=sets,
        tenants=tenants,
        all_tenants=all_tenants,
        min_trust=min_trust,
        given=given,
    ).settings
    parsed = _parsed(filters)
    started = time.perf_counter()
    with opening() as progress:
        engine = Engine.open(settings=settings, progress=progress)
    return Opened(engine, settings.bundle, parsed, time.perf_counter() - started)


@contextmanager
def opening() -> Iterator[Callable[[str, int, int], None] | None]:
    """What to tell how far the arrays of a new bundle are; None where nobody looks."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield None
        return
    with screen.status("opening the bundle") as status:
        yield lambda what, done, total: status.update(f"{what}, {done} of {total}")


def _parsed(filters: str | None) -> Mapping[str, Any] | None:
    if filters is None:
        return None
    try:
        parsed = json.loads(filters)
    except ValueError as error:
        raise typer.BadParameter(f"--filter is no JSON: {error}") from error
    if not isinstance(parsed, dict):
        raise typer.BadParameter('--filter is a JSON object, such as {"title": "Ferry"}')
    return parsed


def print_passage(screen: Console, label: str, passage: Passage, note: str = "") -> None:
    """A passage on the screen: place, what each leg gave it, and how it begins."""
    from rich.padding import Padding
    from rich.text import Text

    candidate = passage.candidate
    span = f"{_span(candidate)}, score {candidate.score:.5f}"
    screen.print(_head(label, candidate))
    screen.print(Text(f"   {span}{note}", style="dim"))
    for part in passage.legs:
        parts = f"rank {part.rank:g}, score {part.score:.3f}, +{part.contribution:.5f}"
        screen.print(Text(f"   {printable(part.leg):<6} {parts}", style="dim"))
    screen.print(Padding(Text(_excerpt(candidate.text)), (0, 0, 1, 3)))


def print_place(screen: Console, label: str, candidate: Candidate) -> None:
    """Where a passage stands, in one line."""
    from rich.text import Text

    head = _head(label, candidate)
    head.append(Text(f"  {_span(candidate)}", style="dim"))
    screen.print(head)


def print_flags(screen: Console, flags: Sequence[InjectionFlag]) -> None:
    """A warning for each place where a passage addresses the model that reads it."""
    from rich.text import Text

    for flag in flags:
        text = f"[{flag.passage}] addresses its reader ({flag.rule}): {_excerpt(flag.text, 60)}"
        screen.print(Text(text, style="bold red"))


def _head(label: str, candidate: Candidate) -> Any:
    from rich.text import Text

    metadata = candidate.metadata
    headings = metadata["heading_path"] or [metadata["title"]]
    head = Text(f"{label} ", style="bold")
    return head.append(printable(" › ".join([metadata["document_id"], *headings])), "bold cyan")


def _span(candidate: Candidate) -> str:
    return f"characters {candidate.metadata['start']}–{candidate.metadata['end']}"


def _excerpt(text: str, length: int = 320) -> str:
    flat = printable(" ".join(text.split()))
    if len(flat) <= length:
        return flat
    return flat[:length].rsplit(" ", 1)[0] + " …"
