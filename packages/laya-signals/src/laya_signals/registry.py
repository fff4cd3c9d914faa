"""From a `{"provider": …, "config": …}` block to a component, through entry points.

A package offers components by declaring entry points in one of the groups `laya.signals`,
`laya.index` and `laya.retrieval`; a provider's name is its entry point's name. A component of your
own needs no package: `module.path:ClassName` names it directly. Nothing is imported until a block
asks for it.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from laya_signals.component import Component, describe
from laya_signals.errors import RegistryError

T = TypeVar("T")


class ProviderBlock(BaseModel):
    """Which component, and its settings, as written in a stack file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str
    config: dict[str, Any] = Field(default_factory=dict)


@cache
def _entries(group: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=group)}


class Registry:
    """The providers of one or more entry-point groups."""

    def __init__(self, *groups: str) -> None:
        self.groups = groups

    def names(self) -> list[str]:
        """Every known provider name, sorted."""
        return sorted({name for group in self.groups for name in _entries(group)})

    def load(self, provider: str) -> type[Any]:
        """The class behind a provider name, or behind `module.path:ClassName`.

        A module that is not installed is looked for in the current folder. Raises `RegistryError`
        for an unknown name, suggesting the nearest known one, and for a path that leads to no
        `Component`.
        """
        if ":" in provider:
            return _by_path(provider)
        for group in self.groups:
            if (entry := _entries(group).get(provider)) is not None:
                loaded: type[Any] = entry.load()
                return loaded
        raise RegistryError(f"unknown provider {provider!r}{self._suggestion(provider)}")

    def resolve(self, block: ProviderBlock | Mapping[str, Any], seam: type[T], **inject: Any) -> T:
        """Build the component that `block` names and check that it implements `seam`.

        `inject` are further constructor keywords (an already loaded model, say). Raises
        `RegistryError` when the name is unknown or the object does not fit the seam, and
        `ConfigError` when its settings are wrong.
        """
        if not isinstance(block, ProviderBlock):
            try:
                block = ProviderBlock.model_validate(block)
            except ValidationError as error:
                raise RegistryError(f"not a provider block: {describe(error)}") from error
        built = self.load(block.provider)(block.config, **inject)
        if not isinstance(built, seam):
            raise RegistryError(
                f"provider {block.provider!r} builds a {type(built).__name__}, "
                f"which is no {seam.__name__}"
            )
        return built

    def _suggestion(self, provider: str) -> str:
        names = self.names()
        near = difflib.get_close_matches(provider, names, n=1)
        if near:
            return f"; did you mean {near[0]!r}?"
        return f"; known are {', '.join(names) or 'none'}"


def _by_path(path: str) -> type[Component[Any]]:
    module, _, name = path.partition(":")
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        # A console script does not look there by itself. Last, so that nothing is shadowed; for
        # good, so that worker processes find the module too.
        sys.path.append(here)
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise RegistryError(f"provider {path!r} cannot be imported: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Component)):
        raise RegistryError(f"provider {path!r} is no subclass of laya_signals.Component")
    return found


#: The providers that this package's group offers: tokenizers, encoders, sparse encoders, models.
signals = Registry("laya.signals")
