"""Options that several commands take, grouped so that each is written once.

A command decorated with `shared_options` takes such a group as one parameter; on the command line
its fields are options like any other.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from laya_rag.cli.finding import (
    AllTenantsOption,
    BundleSetting,
    ConfigOption,
    DepthSetting,
    LegOption,
    MinTrustSetting,
    Opened,
    SetOption,
    TenantOption,
    open_engine,
)

R = TypeVar("R")

#: Setting and value by the option that gave them; a value of None was not given.
Given = Mapping[str, tuple[str, Any]]


@dataclass(frozen=True)
class ViewOptions:
    """Which corpus, and who asks."""

    bundle: BundleSetting = None
    tenant: TenantOption = None
    all_tenants: AllTenantsOption = False
    min_trust: MinTrustSetting = None
    config: ConfigOption = None
    sets: SetOption = None

    def open(self, *given: Given) -> Opened:
        """The engine, with what other options gave; raises as `open_engine`."""
        return self._open(given, None)

    def _open(self, given: Sequence[Given], filters: str | None) -> Opened:
        return open_engine(
            bundle=self.bundle,
            config=self.config,
            sets=self.sets,
            tenants=self.tenant,
            all_tenants=self.all_tenants,
            min_trust=self.min_trust,
            filters=filters,
            given={option: value for part in given for option, value in part.items()},
        )


@dataclass(frozen=True)
class CorpusOptions(ViewOptions):
    """Which corpus, who asks, and which part of it."""

    filters: Annotated[
        str | None,
        typer.Option(
            "--filter", help='Only what matches, as JSON: \'{"media_type": "text/html"}\'.'
        ),
    ] = None

    def open(self, *given: Given) -> Opened:
        """See `ViewOptions.open`."""
        return self._open(given, self.filters)


@dataclass(frozen=True)
class SearchOptions:
    """The first stage."""

    depth: DepthSetting = None
    leg: LegOption = None

    @property
    def given(self) -> Given:
        """The settings behind the options."""
        return {"--depth": ("search.depth", self.depth), "--leg": ("search.legs", self.leg)}


@dataclass(frozen=True)
class GateOptions:
    """What is read and kept."""

    keep: Annotated[
        int | None, typer.Option("--keep", "-k", help="Passages of evidence to keep (5).", min=1)
    ] = None
    candidates: Annotated[
        int | None, typer.Option(help="Fused candidates that the gate reads (20).", min=1)
    ] = None
    relevance: Annotated[
        float | None,
        typer.Option(help="Probability from which a passage is relevant (0.5).", min=0, max=1),
    ] = None
    answerability: Annotated[
        float | None,
        typer.Option(help="Probability from which the evidence answers (0.5).", min=0, max=1),
    ] = None
    no_gate: Annotated[
        bool, typer.Option("--no-gate", help="Ask no decision model; nothing is measured.")
    ] = False

    @property
    def given(self) -> Given:
        """The settings behind the options."""
        return {
            "--keep": ("search.keep", self.keep),
            "--candidates": ("gate.candidates", self.candidates),
            "--relevance": ("gate.relevance", self.relevance),
            "--answerability": ("gate.answerability", self.answerability),
            "--no-gate": ("gate.enabled", False if self.no_gate else None),
        }


@dataclass(frozen=True)
class OutputOptions:
    """How the result comes."""

    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False
    exit_code: Annotated[
        bool,
        typer.Option("--exit-code", help="Exit with 3 when the result is an abstention or a no."),
    ] = False


def shared_options(command: Callable[..., R]) -> Callable[..., R]:
    """Take each parameter that is a group of options as the group's own options."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type[Any]] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        kind = parameter.annotation
        if not is_dataclass(kind) or not isinstance(kind, type):
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[parameter.name] = kind
        hints = get_type_hints(kind, include_extras=True)
        parameters += [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=hints[field.name],
            )
            for field in fields(kind)
        ]

    @functools.wraps(command)
    def wrapped(**given: Any) -> R:
        for name, kind in groups.items():
            own = {field.name: given.pop(field.name) for field in fields(kind)}
            given[name] = kind(**own)
        return command(**given)

    del wrapped.__wrapped__  # or typer would look through it
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {item.name: item.annotation for item in parameters}
    return wrapped
