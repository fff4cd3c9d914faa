"""Who may see a document, and how far it is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, runtime_checkable

from laya_signals import Component, ComponentConfig
from pydantic import AfterValidator, BaseModel, ConfigDict

from laya_index.patterns import checked, spec_of

Tier = Literal["quarantined", "untrusted", "trusted"]

#: From least to most trusted.
TIERS: tuple[Tier, ...] = ("quarantined", "untrusted", "trusted")


@dataclass(frozen=True, slots=True)
class Trust:
    """A document's tier, and the tenants that may see it.

    `tenants` is None where the stack knows no tenants; an empty tuple means that no tenant may
    see the document.
    """

    tier: Tier
    tenants: tuple[str, ...] | None


@runtime_checkable
class TrustPolicy(Protocol):
    """A document's id (its path, for files) to its trust."""

    @property
    def fingerprint(self) -> str:
        """Hex digits that change whenever the same id may give another answer."""
        ...

    def assign(self, document_id: str) -> Trust:
        """The trust of the document `document_id`."""
        ...


class TrustRule(BaseModel):
    """Documents whose id matches the pattern get the tier."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    match: Annotated[str, AfterValidator(lambda pattern: checked((pattern,))[0])]
    tier: Tier


class TrustManifestConfig(ComponentConfig):
    """Settings of `trust.manifest`; patterns are as in a `.gitignore` file.

    `default_tier` is for what no rule matches. Left out, it is `untrusted` without rules; with
    rules it is `quarantined`: the rules are then an allow-list. A later `!folder/**` takes out of
    a tenant what its earlier patterns let in.
    """

    default_tier: Tier | None = None
    rules: tuple[TrustRule, ...] = ()
    tenants: dict[str, Annotated[tuple[str, ...], AfterValidator(checked)]] | None = None


class TrustManifest(Component[TrustManifestConfig]):
    """Tiers and tenants by pattern.

    The last rule that matches decides the tier. A document belongs to every tenant one of whose
    patterns matches; once tenants are configured, one that matches none is visible to no tenant.
    """

    Config = TrustManifestConfig

    def __init__(
        self, config: Mapping[str, Any] | ComponentConfig | None = None, /, **settings: Any
    ) -> None:
        super().__init__(config, **settings)
        self._rules = [(spec_of([rule.match]), rule.tier) for rule in self.config.rules]
        tenants = self.config.tenants
        self._tenants = (
            None
            if tenants is None
            else {name: spec_of(patterns) for name, patterns in sorted(tenants.items())}
        )
        self._default: Tier = self.config.default_tier or (
            "quarantined" if self._rules else "untrusted"
        )

    def assign(self, document_id: str) -> Trust:
        """The tier and tenants of the document `document_id`."""
        tier = self._default
        for spec, rule_tier in self._rules:
            if spec.match_file(document_id):
                tier = rule_tier
        if self._tenants is None:
            return Trust(tier, None)
        names = tuple(n for n, spec in self._tenants.items() if spec.match_file(document_id))
        return Trust(tier, names)
