"""What one caller may see."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from laya_retrieval.errors import FilterError
from laya_retrieval.filters import Filter
from laya_retrieval.guard import TenantFilter, TrustFilter

from laya_rag.errors import AccessError


@dataclass(frozen=True, slots=True)
class Access:
    """The tenants that a caller belongs to and the least trust tier it accepts.

    Fails closed: in a corpus that keeps tenants apart, a caller without tenants is refused unless
    `all_tenants` says that it may see everything. `all_tenants` beside named tenants is refused:
    one of the two is a mistake.

    Raises `AccessError` for a tenant that is no text and for an unknown trust tier.
    """

    tenants: Collection[str] = ()
    all_tenants: bool = False
    min_trust: str = "untrusted"

    def __post_init__(self) -> None:
        if isinstance(self.tenants, str):
            raise AccessError(f"tenants is a list of names, not the text {self.tenants!r}")
        if self.tenants and self.all_tenants:
            raise AccessError("name tenants or ask for all of them, not both")
        try:
            guard = TenantFilter(self.tenants)
            TrustFilter(self.min_trust)
        except FilterError as error:
            raise AccessError(str(error)) from error
        object.__setattr__(self, "tenants", guard.tenants)

    def guards(self, tenants_apart: bool) -> tuple[TenantFilter | TrustFilter, ...]:
        """The rules for a corpus that keeps tenants apart or does not.

        They are applied inside the search (`Filter`, see `rules`) and once more to what comes back
        (`Guard`). Raises `AccessError` where tenants are kept apart and the caller has none.
        """
        trust = TrustFilter(self.min_trust)
        if self.all_tenants or not (tenants_apart or self.tenants):
            return (trust,)
        if not self.tenants:
            raise AccessError(
                "this corpus keeps tenants apart: name a tenant, or ask for all of them"
            )
        return (trust, TenantFilter(self.tenants))

    def rules(self, tenants_apart: bool) -> tuple[Filter, ...]:
        """The same rules in the filter language; every one of them has to hold."""
        return tuple(guard.expression for guard in self.guards(tenants_apart))
