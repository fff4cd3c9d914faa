"""Guards: who may see which candidate. They fail closed: what is not known to be allowed is not.

A guard is a filter with a name, applied to every leg before fusion and once more to what the
processors return, so that no step in between can bring back what was withheld.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from dataclasses import field as made
from typing import Protocol, runtime_checkable

from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import FilterError
from laya_retrieval.filters import Comparison, Filter, Operator


@runtime_checkable
class Guard(Protocol):
    """Decides for each candidate alone whether the caller may see it."""

    @property
    def name(self) -> str:
        """What the guard looks at; reported beside the number of candidates it removed."""
        ...

    def permits(self, candidate: Candidate) -> bool:
        """Whether the candidate may be seen."""
        ...


@dataclass(frozen=True, slots=True)
class TenantFilter:
    """Only candidates that belong to one of the caller's tenants.

    `tenants` is one name or several; None or none at all permits nothing, so that a lost identity
    opens no door. `shared` are tenants whose rows everybody with an identity may read. A candidate
    without tenants is visible to nobody. Raises `FilterError` for a tenant that is no text.
    """

    tenants: str | Collection[str] | None
    field: str = "tenants"
    shared: Collection[str] = ()
    #: The same rule in the filter language, for a backend that filters inside its search.
    expression: Filter = made(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for label, given in (("tenants", self.tenants), ("shared", self.shared)):
            names = (given,) if isinstance(given, str) else tuple(given or ())
            for name in names:
                if not isinstance(name, str) or not name:
                    raise FilterError(f"{label}: a tenant is a non-empty text, not {name!r}")
            object.__setattr__(self, label, tuple(sorted(set(names))))
        own = tuple(self.tenants or ())
        wanted = tuple(sorted({*own, *self.shared})) if own else ()
        object.__setattr__(self, "expression", Comparison(Operator.IN, self.field, wanted))

    @property
    def name(self) -> str:
        """`tenant`."""
        return "tenant"

    def permits(self, candidate: Candidate) -> bool:
        """Whether one of the candidate's tenants is among the caller's."""
        return self.expression.matches(candidate.metadata)

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:  # noqa: ARG002
        """The permitted candidates in their incoming order."""
        return [candidate for candidate in candidates if self.permits(candidate)]


@dataclass(frozen=True, slots=True)
class TrustFilter:
    """Only candidates of at least one trust tier.

    `tiers` orders the known tiers, lowest first. A candidate without a tier, or with an unknown
    one, is not permitted. Raises `FilterError` when `minimum` is no known tier.
    """

    minimum: str = "untrusted"
    field: str = "trust_tier"
    tiers: Sequence[str] = ("quarantined", "untrusted", "trusted")
    #: The same rule in the filter language, for a backend that filters inside its search.
    expression: Filter = made(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.minimum not in self.tiers:
            raise FilterError(
                f"unknown trust tier {self.minimum!r}; known are {', '.join(self.tiers)}"
            )
        allowed = tuple(self.tiers[list(self.tiers).index(self.minimum) :])
        object.__setattr__(self, "expression", Comparison(Operator.IN, self.field, allowed))

    @property
    def name(self) -> str:
        """`trust`."""
        return "trust"

    def permits(self, candidate: Candidate) -> bool:
        """Whether the candidate's tier is known and high enough."""
        tier = candidate.metadata.get(self.field)
        return isinstance(tier, str) and self.expression.matches(candidate.metadata)

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:  # noqa: ARG002
        """The permitted candidates in their incoming order."""
        return [candidate for candidate in candidates if self.permits(candidate)]
