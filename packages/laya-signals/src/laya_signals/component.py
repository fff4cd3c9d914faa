"""The base class of everything that can be configured from a stack file or from code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from laya_signals.errors import ConfigError


class ComponentConfig(BaseModel):
    """Settings of a component: immutable, and an unknown key is an error."""

    # Built at first use: most programs need a few of the many settings models.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


C = TypeVar("C", bound=ComponentConfig)


class Component(Generic[C]):
    """Something built from validated settings, given as one mapping or as keywords.

    A subclass names its settings model in `Config` and adds the methods of its seam:

    >>> class GreeterConfig(ComponentConfig):
    ...     name: str = "world"
    >>> class Greeter(Component[GreeterConfig]):
    ...     Config = GreeterConfig
    >>> Greeter(name="Ada").config == Greeter({"name": "Ada"}).config
    True

    Raises `ConfigError`, naming the component and the offending key, when the settings are wrong.
    """

    Config: ClassVar[type[ComponentConfig]] = ComponentConfig

    #: Raised by one whenever the same settings begin to give other output, so that caches and
    #: bundles made by an older version are not mistaken for current ones.
    version: ClassVar[int] = 1

    config: C

    def __init__(
        self, config: Mapping[str, Any] | ComponentConfig | None = None, /, **settings: Any
    ) -> None:
        self.config = parse_config(type(self), config, settings)

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that change whenever this component's output may change.

        A component whose output depends on more than its settings (a model's weights, say) adds
        that through `fingerprint_extra`.
        """
        return fingerprint_of(
            {
                "component": f"{type(self).__module__}:{type(self).__qualname__}",
                "version": self.version,
                "config": self.config.model_dump(mode="json"),
                "extra": self.fingerprint_extra(),
            }
        )

    def fingerprint_extra(self) -> Any:
        """JSON-serialisable facts beyond the settings that decide the output."""
        return None


def parse_config(
    component: type[Component[Any]],
    config: Mapping[str, Any] | ComponentConfig | None,
    settings: Mapping[str, Any],
) -> Any:
    """Validate settings given as a mapping or as keywords against `component.Config`."""
    name = component.__name__
    if config is not None and settings:
        raise ConfigError(
            f"{name}: give settings as one mapping or as keywords, not both "
            f"(keywords: {', '.join(sorted(settings))})"
        )
    if isinstance(config, component.Config):
        return config
    if config is not None and not isinstance(config, Mapping):
        raise ConfigError(f"{name}: settings must be a mapping, not {type(config).__name__}")
    values = dict(settings if config is None else config)
    try:
        return component.Config.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{name}: {describe(error)}") from error


def describe(error: ValidationError) -> str:
    """One line per problem: the dotted key and what is wrong with it."""
    lines = []
    for item in error.errors(include_url=False, include_input=False):
        key = ".".join(str(part) for part in item["loc"]) or "settings"
        if item["type"] == "extra_forbidden":
            lines.append(f"unknown key {key!r}")
        else:
            lines.append(f"{key}: {item['msg']}")
    return "; ".join(lines)


def fingerprint_of(facts: Any) -> str:
    """The first sixteen hex digits of the SHA-256 of `facts` as canonical JSON."""
    canonical = json.dumps(facts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
